! dftracer_stub.f90 - the C functions that the module dftracer calls, doing nothing: for building without the library.
!
! It is compiled together with the source of the module, so the interface is the same. The installed
! share/dftracer/fortran/dftracer_stub.f90 holds both in one file: add it to your project.
! SPDX-License-Identifier: MIT
module dftracer_stub
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, &
    c_ptr, c_size_t
  use dftracer_c, only: c_arg, c_options
  implicit none
  public

  integer(c_int), parameter, private :: DISABLED = 1 ! DFT_EDISABLED
  character(kind=c_char), target, private :: nothing = c_null_char

contains

  function c_version() bind(c, name='dft_version') result(text)
    type(c_ptr) :: text
    text = c_loc(nothing)
  end function c_version

  function c_status_text(status) bind(c, name='dft_status_text') result(text)
    integer(c_int), value :: status
    type(c_ptr) :: text
    text = c_loc(nothing)
  end function c_status_text

  function c_start(options) bind(c, name='dft_start') result(status)
    type(c_options), intent(in) :: options
    integer(c_int) :: status
    status = DISABLED
  end function c_start

  function c_stop() bind(c, name='dft_stop') result(status)
    integer(c_int) :: status
    status = 0
  end function c_stop

  function c_bind_io() bind(c, name='dft_bind_io') result(status)
    integer(c_int) :: status
    status = DISABLED
  end function c_bind_io

  subroutine c_pause() bind(c, name='dft_pause')
  end subroutine c_pause

  subroutine c_resume() bind(c, name='dft_resume')
  end subroutine c_resume

  function c_is_enabled() bind(c, name='dft_is_enabled') result(answer)
    integer(c_int) :: answer
    answer = 0
  end function c_is_enabled

  function c_time() bind(c, name='dft_time') result(now)
    integer(c_int64_t) :: now
    now = 0
  end function c_time

  function c_site_declare(name, name_len, cat, cat_len) bind(c, name='dft_site_declare_n') result(site)
    character(kind=c_char), intent(in) :: name(*), cat(*)
    integer(c_size_t), value :: name_len, cat_len
    type(c_ptr) :: site
    site = c_null_ptr
  end function c_site_declare

  function c_begin_site(site) bind(c, name='dft_region_begin_site') result(region)
    type(c_ptr), value :: site
    integer(c_int64_t) :: region
    region = 0
  end function c_begin_site

  function c_begin(name, name_len, cat, cat_len) bind(c, name='dft_region_begin_n') result(region)
    character(kind=c_char), intent(in) :: name(*), cat(*)
    integer(c_size_t), value :: name_len, cat_len
    integer(c_int64_t) :: region
    region = 0
  end function c_begin

  subroutine c_end_innermost() bind(c, name='dft_region_end_innermost')
  end subroutine c_end_innermost

  subroutine c_end_at(region) bind(c, name='dft_region_end_at')
    integer(c_int64_t), value :: region
  end subroutine c_end_at

  subroutine c_update_int(region, key, key_len, value) bind(c, name='dft_update_int_n')
    integer(c_int64_t), value :: region
    character(kind=c_char), intent(in) :: key(*)
    integer(c_size_t), value :: key_len
    integer(c_int64_t), value :: value
  end subroutine c_update_int

  subroutine c_update_double(region, key, key_len, value) bind(c, name='dft_update_double_n')
    integer(c_int64_t), value :: region
    character(kind=c_char), intent(in) :: key(*)
    integer(c_size_t), value :: key_len
    real(c_double), value :: value
  end subroutine c_update_double

  subroutine c_update_bool(region, key, key_len, value) bind(c, name='dft_update_bool_n')
    integer(c_int64_t), value :: region
    character(kind=c_char), intent(in) :: key(*)
    integer(c_size_t), value :: key_len
    integer(c_int), value :: value
  end subroutine c_update_bool

  subroutine c_update_string(region, key, key_len, text, len) bind(c, name='dft_update_string_n')
    integer(c_int64_t), value :: region
    character(kind=c_char), intent(in) :: key(*), text(*)
    integer(c_size_t), value :: key_len, len
  end subroutine c_update_string

  subroutine c_instant(name, name_len, cat, cat_len, args, count) bind(c, name='dft_instant_n')
    character(kind=c_char), intent(in) :: name(*), cat(*)
    integer(c_size_t), value :: name_len, cat_len
    type(c_arg), intent(in) :: args(*)
    integer(c_int32_t), value :: count
  end subroutine c_instant

  subroutine c_counter(name, name_len, cat, cat_len, value) bind(c, name='dft_counter_n')
    character(kind=c_char), intent(in) :: name(*), cat(*)
    integer(c_size_t), value :: name_len, cat_len
    real(c_double), value :: value
  end subroutine c_counter

  subroutine c_metadata(key, key_len, value, value_len) bind(c, name='dft_metadata_n')
    character(kind=c_char), intent(in) :: key(*), value(*)
    integer(c_size_t), value :: key_len, value_len
  end subroutine c_metadata

  subroutine c_log_event(name, name_len, cat, cat_len, start, duration, tid, args, count) bind(c, name='dft_log_event_n')
    character(kind=c_char), intent(in) :: name(*), cat(*)
    integer(c_size_t), value :: name_len, cat_len
    integer(c_int64_t), value :: start, duration
    integer(c_int32_t), value :: tid
    type(c_arg), intent(in) :: args(*)
    integer(c_int32_t), value :: count
  end subroutine c_log_event

  subroutine c_set_rank(rank, size) bind(c, name='dft_set_rank')
    integer(c_int32_t), value :: rank, size
  end subroutine c_set_rank

  function c_rank() bind(c, name='dft_rank') result(rank)
    integer(c_int32_t) :: rank
    rank = -1
  end function c_rank

  function c_size() bind(c, name='dft_size') result(size)
    integer(c_int32_t) :: size
    size = -1
  end function c_size

  subroutine c_thread_name(name, name_len) bind(c, name='dft_thread_name_n')
    character(kind=c_char), intent(in) :: name(*)
    integer(c_size_t), value :: name_len
  end subroutine c_thread_name

end module dftracer_stub
