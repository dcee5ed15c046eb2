! dftracer_event.f90 - the module dftracer_event: events that one call records.
!
! Part of the module dftracer.
! SPDX-License-Identifier: MIT
module dftracer_event
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use dftracer_c, only: c_arg, c_counter, c_instant, c_log_event, c_metadata, c_time
  use dftracer_args, only: count_of, dft_args, pack_args
  use dftracer_session, only: DEFAULT_CAT, outcome
  implicit none
  private

  public :: dft_instant, dft_counter, dft_metadata, dft_log_event, dft_time

  !> `call dft_counter(name, value [, cat] [, stat])`: a value that changes over time, shown as a curve.
  interface dft_counter
    module procedure counter_int32, counter_int64, counter_real32, counter_real64
  end interface dft_counter

  !> `call dft_metadata(key, value [, stat])`: a fact about the program, with the same types as dft_update.
  interface dft_metadata
    module procedure metadata_int32, metadata_int64, metadata_real32, metadata_real64, metadata_logical, metadata_text
  end interface dft_metadata

contains

  ! ---- Points and explicit times ---------------------------------------------------------------------------------------

  !> A point in time.
  recursive subroutine dft_instant(name, cat, args, stat)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    type(dft_args), intent(in), optional :: args
    integer, intent(out), optional :: stat
    type(dft_args) :: none
    if (present(args)) then
      call instant(name, cat, args)
    else
      call instant(name, cat, none)
    end if
    if (present(stat)) stat = outcome()
  end subroutine dft_instant

  recursive subroutine instant(name, cat, args)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: cat
    type(dft_args), intent(in), target :: args
    type(c_arg) :: list(count_of(args))
    integer(c_int32_t) :: count
    count = size(list, kind=c_int32_t)
    call pack_args(args, list)
    if (present(cat)) then
      call c_instant(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), list, count)
    else
      call c_instant(name, len_trim(name, c_size_t), DEFAULT_CAT, len(DEFAULT_CAT, c_size_t), list, count)
    end if
  end subroutine instant

  !> An event with times of the caller, in the unit of dft_time. They are written unchanged.
  recursive subroutine dft_log_event(name, cat, start, duration, args, stat)
    character(len=*), intent(in) :: name, cat
    integer(int64), intent(in) :: start, duration
    type(dft_args), intent(in), optional :: args
    integer, intent(out), optional :: stat
    type(dft_args) :: none
    if (present(args)) then
      call timed(name, cat, start, duration, args)
    else
      call timed(name, cat, start, duration, none)
    end if
    if (present(stat)) stat = outcome()
  end subroutine dft_log_event

  recursive subroutine timed(name, cat, start, duration, args)
    character(len=*), intent(in) :: name, cat
    integer(int64), intent(in) :: start, duration
    type(dft_args), intent(in), target :: args
    type(c_arg) :: list(count_of(args))
    call pack_args(args, list)
    call c_log_event(name, len_trim(name, c_size_t), cat, len_trim(cat, c_size_t), start, duration, 0_c_int32_t, &
      list, size(list, kind=c_int32_t))
  end subroutine timed

  !> The time since the epoch in the unit of the trace (DFTRACER_TIME_METRIC, by default microseconds); 0 if off.
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
