! dftracer_event.f90 - the module dftracer_event: events that one call records, and their arguments.
!
! Part of the module dftracer.
! SPDX-License-Identifier: MIT
module dftracer_event
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_loc, c_null_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use dftracer_c
  use dftracer_session, only: DEFAULT_CAT, outcome
  implicit none
  private

  public :: dft_arg, dft_instant, dft_counter, dft_metadata, dft_log_event, dft_time

  !> An argument of an event that one call records: `dft_arg(key, value)`, of the same types as dft_update.
  type :: dft_arg
    private
    character(kind=c_char), allocatable :: key(:), text(:)
    integer(c_int32_t) :: form = 0
    integer(c_int64_t) :: bits = 0
  end type dft_arg

  !> `dft_arg(key, value)`: an argument of `dft_instant` and `dft_log_event`.
  interface dft_arg
    module procedure arg_int32, arg_int64, arg_real32, arg_real64, arg_logical, arg_text
  end interface dft_arg

  !> `call dft_counter(name, value [, cat] [, stat])`: a value that changes over time, shown as a curve.
  interface dft_counter
    module procedure counter_int32, counter_int64, counter_real32, counter_real64
  end interface dft_counter

  !> `call dft_metadata(key, value [, stat])`: a fact about the program, of the same types as dft_update.
  interface dft_metadata
    module procedure metadata_int32, metadata_int64, metadata_real32, metadata_real64, metadata_logical, metadata_text
  end interface dft_metadata

contains

  ! ---- Arguments -------------------------------------------------------------------------------------------------------

  recursive function arg_int64(key, value) result(arg)
    character(len=*), intent(in) :: key
    integer(int64), intent(in) :: value
    type(dft_arg) :: arg
    call copy_letters(key, arg%key)
    arg%form = FORM_INT
    arg%bits = value
  end function arg_int64

  recursive function arg_int32(key, value) result(arg)
    character(len=*), intent(in) :: key
    integer(int32), intent(in) :: value
    type(dft_arg) :: arg
    arg = arg_int64(key, int(value, int64))
  end function arg_int32

  recursive function arg_real64(key, value) result(arg)
    character(len=*), intent(in) :: key
    real(real64), intent(in) :: value
    type(dft_arg) :: arg
    call copy_letters(key, arg%key)
    arg%form = FORM_DOUBLE
    arg%bits = transfer(value, arg%bits)
  end function arg_real64

  recursive function arg_real32(key, value) result(arg)
    character(len=*), intent(in) :: key
    real(real32), intent(in) :: value
    type(dft_arg) :: arg
    arg = arg_real64(key, real(value, real64))
  end function arg_real32

  recursive function arg_logical(key, value) result(arg)
    character(len=*), intent(in) :: key
    logical, intent(in) :: value
    type(dft_arg) :: arg
    call copy_letters(key, arg%key)
    arg%form = FORM_BOOL
    arg%bits = merge(1_c_int64_t, 0_c_int64_t, value)
  end function arg_logical

  recursive function arg_text(key, value) result(arg)
    character(len=*), intent(in) :: key, value
    type(dft_arg) :: arg
    call copy_letters(key, arg%key)
    arg%form = FORM_STRING
    call copy_letters(value, arg%text)
  end function arg_text

  !> A text without its trailing blanks, in a form that has an address in C.
  recursive subroutine copy_letters(text, copy)
    character(len=*), intent(in) :: text
    character(kind=c_char), allocatable, intent(out) :: copy(:)
    integer :: i
    allocate (copy(len_trim(text)))
    do i = 1, size(copy)
      copy(i) = text(i:i)
    end do
  end subroutine copy_letters

  !> As C takes them; they point into `args`.
  recursive function packed(args) result(list)
    type(dft_arg), intent(in), target :: args(:)
    type(c_arg) :: list(size(args))
    integer :: i
    do i = 1, size(args)
      list(i) = c_arg(c_null_ptr, c_null_ptr, 0, args(i)%form, 0, args(i)%bits, 0)
      if (allocated(args(i)%key)) then
        list(i)%name_len = size(args(i)%key, kind=c_size_t)
        if (size(args(i)%key) > 0) list(i)%name = c_loc(args(i)%key)
      end if
      if (args(i)%form == FORM_STRING) then
        list(i)%len = size(args(i)%text, kind=c_size_t)
        if (size(args(i)%text) > 0) list(i)%bits = transfer(c_loc(args(i)%text), list(i)%bits)
      end if
    end do
  end function packed

  ! ---- Points and explicit times ---------------------------------------------------------------------------------------

  !> A point in time, with arguments: `call dft_instant('converged', 'solver', [dft_arg('step', n)])`.
  recursive subroutine dft_instant(name, cat, args, stat)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    type(dft_arg), intent(in), optional, target :: args(:)
    integer, intent(out), optional :: stat
    if (present(args)) then
      call instant(name, cat, packed(args))
    else
      call instant(name, cat, [c_arg ::])
    end if
    if (present(stat)) stat = outcome()
  end subroutine dft_instant

  recursive subroutine instant(name, cat, args)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    type(c_arg), contiguous, intent(in) :: args(:)
    integer(c_int32_t) :: count
    count = size(args, kind=c_int32_t)
    if (present(cat)) then
      call c_instant(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), args, count)
    else
      call c_instant(name, len_trim(name, c_size_t), DEFAULT_CAT, len(DEFAULT_CAT, c_size_t), args, count)
    end if
  end subroutine instant

  !> An event with times of the caller, in the unit of dft_time, written as they are.
  recursive subroutine dft_log_event(name, cat, start, duration, args, stat)
    character(len=*), intent(in) :: name, cat
    integer(int64), intent(in) :: start, duration
    type(dft_arg), intent(in), optional, target :: args(:)
    integer, intent(out), optional :: stat
    if (present(args)) then
      call c_log_event(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), start, duration, 0_c_int32_t, &
        packed(args), size(args, kind=c_int32_t))
    else
      call c_log_event(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), start, duration, 0_c_int32_t, &
        [c_arg ::], 0_c_int32_t)
    end if
    if (present(stat)) stat = outcome()
  end subroutine dft_log_event

  !> Now, in the trace's unit (DFTRACER_TIME_METRIC, microseconds by default) since the epoch; 0 when tracing is off.
  recursive integer(int64) function dft_time()
    dft_time = c_time()
  end function dft_time

  ! ---- Counters --------------------------------------------------------------------------------------------------------

  recursive subroutine counter_real64(name, value, cat, stat)
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    if (present(cat)) then
      call c_counter(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), value)
    else
      call c_counter(name, len_trim(name, c_size_t), DEFAULT_CAT, len(DEFAULT_CAT, c_size_t), value)
    end if
    if (present(stat)) stat = outcome()
  end subroutine counter_real64

  recursive subroutine counter_int32(name, value, cat, stat)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: value
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call counter_real64(name, real(value, real64), cat, stat)
  end subroutine counter_int32

  recursive subroutine counter_int64(name, value, cat, stat)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: value
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call counter_real64(name, real(value, real64), cat, stat)
  end subroutine counter_int64

  recursive subroutine counter_real32(name, value, cat, stat)
    character(len=*), intent(in) :: name
    real(real32), intent(in) :: value
    character(len=*), intent(in), optional :: cat
    integer, intent(out), optional :: stat
    call counter_real64(name, real(value, real64), cat, stat)
  end subroutine counter_real32

  ! ---- Metadata --------------------------------------------------------------------------------------------------------

  recursive subroutine metadata_text(key, value, stat)
    character(len=*), intent(in) :: key, value
    integer, intent(out), optional :: stat
    call c_metadata(key, len_trim(key, c_size_t), value, len_trim(value, c_size_t))
    if (present(stat)) stat = outcome()
  end subroutine metadata_text

  recursive subroutine metadata_int64(key, value, stat)
    character(len=*), intent(in) :: key
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=32) :: text
    write (text, '(i0)') value
    call metadata_text(key, text, stat)
  end subroutine metadata_int64

  recursive subroutine metadata_int32(key, value, stat)
    character(len=*), intent(in) :: key
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    call metadata_int64(key, int(value, int64), stat)
  end subroutine metadata_int32

  recursive subroutine metadata_real64(key, value, stat)
    character(len=*), intent(in) :: key
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=32) :: text
    write (text, '(g0)') value
    call metadata_text(key, adjustl(text), stat)
  end subroutine metadata_real64

  recursive subroutine metadata_real32(key, value, stat)
    character(len=*), intent(in) :: key
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=32) :: text
    write (text, '(g0)') value
    call metadata_text(key, adjustl(text), stat)
  end subroutine metadata_real32

  recursive subroutine metadata_logical(key, value, stat)
    character(len=*), intent(in) :: key
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    call metadata_text(key, merge('true ', 'false', value), stat)
  end subroutine metadata_logical

end module dftracer_event
