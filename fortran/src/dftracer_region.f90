! dftracer_region.f90 - the module dftracer_region: sites, regions, loops and the arguments of open regions.
!
! Part of the module dftracer.
! SPDX-License-Identifier: MIT
module dftracer_region
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use dftracer_c
  use dftracer_session, only: DEFAULT_CAT, outcome, outcome_of
  implicit none
  private

  public :: dft_site, dft_region, dft_loop, dft_update
  public :: dft_region_begin, dft_region_end, dft_function_begin, dft_function_end, dft_step_begin, dft_step_end

  character(len=*), parameter :: FUNCTION_CAT = 'function'

  !> A place in the program: name and category, registered once. Made by `dft_site(name [, cat])`.
  type :: dft_site
    private
    type(c_ptr) :: address = c_null_ptr
  end type dft_site

  !> A region that ends with `end`, or when the variable goes out of scope. Threads must not share one.
  type :: dft_region
    private
    integer(c_int64_t) :: handle = 0
  contains
    procedure, private :: begin_region_named, begin_region_site
    !> `begin(name [, cat] [, stat])` or `begin(site [, stat])`. Ends the region that the variable had before.
    generic :: begin => begin_region_named, begin_region_site
    !> `end([stat])`. Does nothing if the region has already ended.
    procedure :: end => end_region
    final :: finish_region
  end type dft_region

  !> A loop: one region around all of it, and inside it one region for each step, `NAME.iter`, with the argument `step`.
  type :: dft_loop
    private
    integer(c_int64_t) :: whole = 0, current = 0
    integer(c_int64_t) :: count = 0
    type(dft_site) :: site
  contains
    procedure, private :: step_int32, step_int64
    !> `begin(name [, cat] [, stat])`, before the loop.
    procedure :: begin => begin_loop
    !> `step(number [, stat])`, first in the loop's body. It ends the step before, so `cycle` and `exit` need no call.
    generic :: step => step_int32, step_int64
    !> `end([stat])`, after the loop. The region of the loop gets the number of steps as `count`.
    procedure :: end => end_loop
    final :: finish_loop
  end type dft_loop

  !> `dft_site(name [, cat])`: the handle of a region, for `dft_region_begin` and `dft_region`. Make it once; it stays valid.
  interface dft_site
    module procedure make_site
  end interface dft_site

  !> `call dft_region_begin(name [, cat] [, stat])` or `call dft_region_begin(site [, stat])`.
  interface dft_region_begin
    module procedure begin_named, begin_site
  end interface dft_region_begin

  !> `call dft_region_end([stat])`: ends the innermost open region of this thread.
  interface dft_region_end
    module procedure end_innermost
  end interface dft_region_end

  !> `call dft_function_end([stat])`: the end of `dft_function_begin`.
  interface dft_function_end
    module procedure end_innermost
  end interface dft_function_end

  !> `call dft_step_begin(name, step [, cat] [, stat])`: a region with the argument `step`.
  interface dft_step_begin
    module procedure begin_step_int32, begin_step_int64
  end interface dft_step_begin

  !> `call dft_step_end([stat])`: the end of `dft_step_begin`.
  interface dft_step_end
    module procedure end_innermost
  end interface dft_step_end

  !> `call dft_update(key, value [, region] [, stat])`: an argument of `region`, or of the innermost open region. The
  !> value is an integer(int32 or int64), real(real32 or real64), logical or character. A key set twice keeps the last.
  interface dft_update
    module procedure update_int32, update_int64, update_real32, update_real64, update_logical, update_text
  end interface dft_update

contains

  ! ---- Regions ---------------------------------------------------------------------------------------------------------

  recursive function make_site(name, cat) result(site)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    type(dft_site) :: site
    if (present(cat)) then
      site%address = c_site_declare(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t))
    else
      site%address = c_site_declare(name, len_trim(name, c_size_t), DEFAULT_CAT, len(DEFAULT_CAT, c_size_t))
    end if
  end function make_site

  !> Like len_trim, but without a call for the many texts that do not end in a blank.
  recursive function trimmed(text) result(length)
    character(len=*), intent(in) :: text
    integer(c_size_t) :: length
    length = len(text, c_size_t)
    if (length == 0) return
    if (iachar(text(length:length)) == iachar(' ')) length = len_trim(text, c_size_t) ! gfortran calls len_trim for `== ' '`
  end function trimmed

  recursive function begun(name, cat) result(handle)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    integer(c_int64_t) :: handle
    if (present(cat)) then
      handle = c_begin(name, trimmed(name), cat, trimmed(cat))
    else
      handle = c_begin(name, trimmed(name), DEFAULT_CAT, len(DEFAULT_CAT, c_size_t))
    end if
  end function begun

  recursive subroutine begin_named(name, cat, stat)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    integer(c_int64_t) :: handle
    handle = begun(name, cat)
    if (present(stat)) stat = outcome_of(handle)
  end subroutine begin_named

  recursive subroutine begin_site(site, stat)
    type(dft_site), intent(in) :: site
    integer, intent(out), optional :: stat
    integer(c_int64_t) :: handle
    if (present(stat)) then
      stat = outcome_of(c_begin_site(site%address))
    else
      handle = c_begin_site(site%address) ! last, here and below: the compiler makes a jump of it
    end if
  end subroutine begin_site

  recursive subroutine end_innermost(stat)
    integer, intent(out), optional :: stat
    if (present(stat)) then
      call c_end_innermost()
      stat = outcome()
    else
      call c_end_innermost()
    end if
  end subroutine end_innermost

  !> A region of the category `function`, for the first line of a procedure.
  recursive subroutine dft_function_begin(name, stat)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    call begin_named(name, FUNCTION_CAT, stat)
  end subroutine dft_function_begin

  recursive subroutine begin_step_int64(name, step, cat, stat)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: step
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    integer(c_int64_t) :: handle
    handle = begun(name, cat)
    if (handle /= 0) call c_update_int(handle, 'step', 4_c_size_t, step)
    if (present(stat)) stat = outcome_of(handle)
  end subroutine begin_step_int64

  recursive subroutine begin_step_int32(name, step, cat, stat)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: step
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call begin_step_int64(name, int(step, int64), cat, stat)
  end subroutine begin_step_int32

  recursive subroutine begin_region_named(region, name, cat, stat)
    class(dft_region), intent(inout) :: region
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call close_handle(region%handle)
    region%handle = begun(name, cat)
    if (present(stat)) stat = outcome_of(region%handle)
  end subroutine begin_region_named

  recursive subroutine begin_region_site(region, site, stat)
    class(dft_region), intent(inout) :: region
    type(dft_site), intent(in) :: site
    integer, intent(out), optional :: stat
    call close_handle(region%handle)
    region%handle = c_begin_site(site%address)
    if (present(stat)) stat = outcome_of(region%handle)
  end subroutine begin_region_site

  recursive subroutine end_region(region, stat)
    class(dft_region), intent(inout) :: region
    integer, intent(out), optional :: stat
    call close_handle(region%handle)
    if (present(stat)) stat = outcome()
  end subroutine end_region

  recursive subroutine finish_region(region)
    type(dft_region), intent(inout) :: region
    call close_handle(region%handle)
  end subroutine finish_region

  recursive subroutine close_handle(handle)
    integer(c_int64_t), intent(inout) :: handle
    if (handle /= 0) call c_end_at(handle)
    handle = 0
  end subroutine close_handle

  ! ---- Loops -----------------------------------------------------------------------------------------------------------

  recursive subroutine begin_loop(loop, name, cat, stat)
    class(dft_loop), intent(inout) :: loop
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call end_loop(loop)
    loop%site = make_site(trim(name)//'.iter', cat)
    loop%whole = begun(name, cat)
    if (present(stat)) stat = outcome_of(loop%whole)
  end subroutine begin_loop

  recursive subroutine step_int64(loop, number, stat)
    class(dft_loop), intent(inout) :: loop
    integer(int64), intent(in) :: number
    integer, intent(out), optional :: stat
    call close_handle(loop%current)
    loop%current = c_begin_site(loop%site%address)
    loop%count = loop%count + 1
    if (loop%current /= 0) call c_update_int(loop%current, 'step', 4_c_size_t, number)
    if (present(stat)) stat = outcome_of(loop%current)
  end subroutine step_int64

  recursive subroutine step_int32(loop, number, stat)
    class(dft_loop), intent(inout) :: loop
    integer(int32), intent(in) :: number
    integer, intent(out), optional :: stat
    call step_int64(loop, int(number, int64), stat)
  end subroutine step_int32

  recursive subroutine end_loop(loop, stat)
    class(dft_loop), intent(inout) :: loop
    integer, intent(out), optional :: stat
    call close_handle(loop%current)
    if (loop%whole /= 0) call c_update_int(loop%whole, 'count', 5_c_size_t, loop%count)
    call close_handle(loop%whole)
    loop%count = 0
    if (present(stat)) stat = outcome()
  end subroutine end_loop

  recursive subroutine finish_loop(loop)
    type(dft_loop), intent(inout) :: loop
    call end_loop(loop)
  end subroutine finish_loop

  ! ---- Arguments of open regions -----------------------------------------------------------------------------------------

  recursive subroutine update_int64(key, value, region, stat)
    character(len=*), intent(in) :: key
    integer(int64), intent(in) :: value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call c_update_int(handle_of(region), key, trimmed(key), value)
    if (present(stat)) stat = outcome()
  end subroutine update_int64

  recursive subroutine update_int32(key, value, region, stat)
    character(len=*), intent(in) :: key
    integer(int32), intent(in) :: value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call update_int64(key, int(value, int64), region, stat)
  end subroutine update_int32

  recursive subroutine update_real64(key, value, region, stat)
    character(len=*), intent(in) :: key
    real(real64), intent(in) :: value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call c_update_double(handle_of(region), key, trimmed(key), value)
    if (present(stat)) stat = outcome()
  end subroutine update_real64

  recursive subroutine update_real32(key, value, region, stat)
    character(len=*), intent(in) :: key
    real(real32), intent(in) :: value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call update_real64(key, real(value, real64), region, stat)
  end subroutine update_real32

  recursive subroutine update_logical(key, value, region, stat)
    character(len=*), intent(in) :: key
    logical, intent(in) :: value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call c_update_bool(handle_of(region), key, trimmed(key), merge(1_c_int, 0_c_int, value))
    if (present(stat)) stat = outcome()
  end subroutine update_logical

  recursive subroutine update_text(key, value, region, stat)
    character(len=*), intent(in) :: key, value
    type(dft_region), intent(in), optional :: region
    integer, intent(out), optional :: stat
    call c_update_string(handle_of(region), key, trimmed(key), value, trimmed(value))
    if (present(stat)) stat = outcome()
  end subroutine update_text

  !> The handle for C: 0, the innermost region, if none is given; a handle of no region if it is not open.
  recursive function handle_of(region) result(handle)
    type(dft_region), intent(in), optional :: region
    integer(c_int64_t) :: handle
    handle = 0
    if (present(region)) handle = merge(region%handle, -1_c_int64_t, region%handle /= 0)
  end function handle_of

end module dftracer_region
