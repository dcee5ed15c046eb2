! dftracer_args.f90 - the module dftracer_args: the arguments of an event that one call records.
!
! Part of the module dftracer. It is a variable, not an array constructor: gfortran leaks allocatable parts of those.
! SPDX-License-Identifier: MIT
module dftracer_args
  use, intrinsic :: iso_c_binding, only: c_char, c_int32_t, c_int64_t, c_loc, c_null_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use dftracer_c, only: c_arg, FORM_BOOL, FORM_DOUBLE, FORM_INT, FORM_STRING
  use dftracer_session, only: DFT_OK
  implicit none
  private

  public :: dft_args, count_of, pack_args

  !> Arguments of `dft_instant` and `dft_log_event`. `add` copies the values. One variable can serve many events.
  type :: dft_args
    private
    integer :: count = 0, used = 0
    type(c_arg), allocatable :: list(:)                ! with offsets into `letters` instead of addresses: `path` is
    character(kind=c_char), allocatable :: letters(:)  ! that of the key, `bits` that of a text
  contains
    procedure, private :: add_int32, add_int64, add_real32, add_real64, add_logical, add_text
    !> `add(key, value [, stat])`, with the same types as dft_update.
    generic :: add => add_int32, add_int64, add_real32, add_real64, add_logical, add_text
    !> `clear([stat])`: removes all arguments.
    procedure :: clear => clear_args
  end type dft_args

contains

  recursive subroutine add_int64(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    call append(args, key, FORM_INT, value)
    if (present(stat)) stat = DFT_OK
  end subroutine add_int64

  recursive subroutine add_int32(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    call add_int64(args, key, int(value, int64), stat)
  end subroutine add_int32

  recursive subroutine add_real64(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    call append(args, key, FORM_DOUBLE, transfer(value, 0_c_int64_t))
    if (present(stat)) stat = DFT_OK
  end subroutine add_real64

  recursive subroutine add_real32(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    call add_real64(args, key, real(value, real64), stat)
  end subroutine add_real32

  recursive subroutine add_logical(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    call append(args, key, FORM_BOOL, merge(1_c_int64_t, 0_c_int64_t, value))
    if (present(stat)) stat = DFT_OK
  end subroutine add_logical

  recursive subroutine add_text(args, key, value, stat)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key, value
    integer, intent(out), optional :: stat
    call append(args, key, FORM_STRING, int(args%used + len_trim(key), c_int64_t))
    args%list(args%count)%len = len_trim(value, c_size_t)
    call append_letters(args, value)
    if (present(stat)) stat = DFT_OK
  end subroutine add_text

  recursive subroutine clear_args(args, stat)
    class(dft_args), intent(inout) :: args
    integer, intent(out), optional :: stat
    args%count = 0
    args%used = 0
    if (present(stat)) stat = DFT_OK
  end subroutine clear_args

  recursive subroutine append(args, key, form, bits)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: key
    integer(c_int32_t), intent(in) :: form
    integer(c_int64_t), intent(in) :: bits
    type(c_arg), allocatable :: longer(:)
    if (.not. allocated(args%list)) allocate (args%list(8))
    if (args%count == size(args%list)) then
      allocate (longer(2*args%count))
      longer(:args%count) = args%list
      call move_alloc(longer, args%list)
    end if
    args%count = args%count + 1
    args%list(args%count) = c_arg(c_null_ptr, c_null_ptr, len_trim(key, c_size_t), form, int(args%used, c_int32_t), bits, 0)
    call append_letters(args, key)
  end subroutine append

  !> A text without its trailing blanks.
  recursive subroutine append_letters(args, text)
    class(dft_args), intent(inout) :: args
    character(len=*), intent(in) :: text
    character(kind=c_char), allocatable :: longer(:)
    integer :: i, needed
    needed = args%used + len_trim(text)
    if (.not. allocated(args%letters)) allocate (args%letters(max(64, needed)))
    if (needed > size(args%letters)) then
      allocate (longer(2*needed))
      longer(:args%used) = args%letters(:args%used)
      call move_alloc(longer, args%letters)
    end if
    do i = 1, len_trim(text)
      args%letters(args%used + i) = text(i:i)
    end do
    args%used = needed
  end subroutine append_letters

  !> The number of arguments, for pack_args.
  pure integer function count_of(args)
    type(dft_args), intent(in) :: args
    count_of = args%count
  end function count_of

  !> Converts them for C. The result points into `args`.
  recursive subroutine pack_args(args, list)
    type(dft_args), intent(in), target :: args
    type(c_arg), intent(out) :: list(:)
    integer :: i
    do i = 1, size(list)
      list(i) = args%list(i)
      list(i)%path = 0
      if (list(i)%name_len > 0) list(i)%name = c_loc(args%letters(args%list(i)%path + 1))
      if (list(i)%form /= FORM_STRING) cycle
      list(i)%bits = 0
      if (list(i)%len > 0) list(i)%bits = transfer(c_loc(args%letters(args%list(i)%bits + 1)), 0_c_int64_t)
    end do
  end subroutine pack_args

end module dftracer_args
