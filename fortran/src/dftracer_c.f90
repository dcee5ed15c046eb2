! dftracer_c.f90 - the module dftracer_c: the functions of dftracer/dft.h that the module dftracer uses.
!
! Each interface has its C prototype above it. Strings are an address and a length. Internal: programs use the module
! dftracer.
! SPDX-License-Identifier: MIT
module dftracer_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_ptr, c_size_t
  implicit none
  private

  public :: c_arg, c_options, FORM_INT, FORM_DOUBLE, FORM_STRING, FORM_BOOL
  public :: c_version, c_status_text, c_strlen, c_start, c_stop, c_bind_io, c_pause, c_resume, c_is_enabled, c_time
  public :: c_site_declare, c_begin_site, c_begin, c_end_innermost, c_end_at, c_update_int, c_update_double
  public :: c_update_bool, c_update_string, c_instant, c_counter, c_metadata, c_log_event, c_set_rank, c_rank
  public :: c_size, c_thread_name

  ! The values of dft_type.
  integer(c_int32_t), parameter :: FORM_INT = 1, FORM_DOUBLE = 3, FORM_STRING = 4, FORM_BOOL = 5

  ! struct dft_arg; `bits` and `len` are its union: a number, or the address and length of a text.
  type, bind(c) :: c_arg
    type(c_ptr) :: key
    type(c_ptr) :: name
    integer(c_size_t) :: name_len
    integer(c_int32_t) :: form
    integer(c_int32_t) :: path
    integer(c_int64_t) :: bits
    integer(c_size_t) :: len
  end type c_arg

  ! struct dft_options
  type, bind(c) :: c_options
    integer(c_size_t) :: struct_size
    type(c_ptr) :: log_file
    type(c_ptr) :: data_dir
  end type c_options

  interface
    ! const char *dft_version(void);
    function c_version() bind(c, name='dft_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    ! const char *dft_status_text(dft_status status);
    function c_status_text(status) bind(c, name='dft_status_text') result(text)
      import :: c_ptr, c_int
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function c_status_text

    ! size_t strlen(const char *text);
    function c_strlen(text) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen

    ! dft_status dft_start(const dft_options *options);
    function c_start(options) bind(c, name='dft_start') result(status)
      import :: c_options, c_int
      type(c_options), intent(in) :: options
      integer(c_int) :: status
    end function c_start

    ! dft_status dft_stop(void);
    function c_stop() bind(c, name='dft_stop') result(status)
      import :: c_int
      integer(c_int) :: status
    end function c_stop

    ! dft_status dft_bind_io(void);
    function c_bind_io() bind(c, name='dft_bind_io') result(status)
      import :: c_int
      integer(c_int) :: status
    end function c_bind_io

    ! void dft_pause(void);
    subroutine c_pause() bind(c, name='dft_pause')
    end subroutine c_pause

    ! void dft_resume(void);
    subroutine c_resume() bind(c, name='dft_resume')
    end subroutine c_resume

    ! int dft_is_enabled(void);
    function c_is_enabled() bind(c, name='dft_is_enabled') result(answer)
      import :: c_int
      integer(c_int) :: answer
    end function c_is_enabled

    ! uint64_t dft_time(void);
    function c_time() bind(c, name='dft_time') result(now)
      import :: c_int64_t
      integer(c_int64_t) :: now
    end function c_time

    ! dft_site *dft_site_declare_n(const char *name, size_t name_len, const char *cat, size_t cat_len);
    function c_site_declare(name, name_len, cat, cat_len) bind(c, name='dft_site_declare_n') result(site)
      import :: c_ptr, c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*), cat(*)
      integer(c_size_t), value :: name_len, cat_len
      type(c_ptr) :: site
    end function c_site_declare

    ! dft_region dft_region_begin_site(dft_site *site);
    function c_begin_site(site) bind(c, name='dft_region_begin_site') result(region)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: site
      integer(c_int64_t) :: region
    end function c_begin_site

    ! dft_region dft_region_begin_n(const char *name, size_t name_len, const char *cat, size_t cat_len);
    function c_begin(name, name_len, cat, cat_len) bind(c, name='dft_region_begin_n') result(region)
      import :: c_char, c_size_t, c_int64_t
      character(kind=c_char), intent(in) :: name(*), cat(*)
      integer(c_size_t), value :: name_len, cat_len
      integer(c_int64_t) :: region
    end function c_begin

    ! void dft_region_end_innermost(void);
    subroutine c_end_innermost() bind(c, name='dft_region_end_innermost')
    end subroutine c_end_innermost

    ! void dft_region_end_at(dft_region region);
    subroutine c_end_at(region) bind(c, name='dft_region_end_at')
      import :: c_int64_t
      integer(c_int64_t), value :: region
    end subroutine c_end_at

    ! void dft_update_int_n(dft_region region, const char *key, size_t key_len, int64_t value);
    subroutine c_update_int(region, key, key_len, value) bind(c, name='dft_update_int_n')
      import :: c_char, c_size_t, c_int64_t
      integer(c_int64_t), value :: region
      character(kind=c_char), intent(in) :: key(*)
      integer(c_size_t), value :: key_len
      integer(c_int64_t), value :: value
    end subroutine c_update_int

    ! void dft_update_double_n(dft_region region, const char *key, size_t key_len, double value);
    subroutine c_update_double(region, key, key_len, value) bind(c, name='dft_update_double_n')
      import :: c_char, c_size_t, c_int64_t, c_double
      integer(c_int64_t), value :: region
      character(kind=c_char), intent(in) :: key(*)
      integer(c_size_t), value :: key_len
      real(c_double), value :: value
    end subroutine c_update_double

    ! void dft_update_bool_n(dft_region region, const char *key, size_t key_len, int value);
    subroutine c_update_bool(region, key, key_len, value) bind(c, name='dft_update_bool_n')
      import :: c_char, c_size_t, c_int64_t, c_int
      integer(c_int64_t), value :: region
      character(kind=c_char), intent(in) :: key(*)
      integer(c_size_t), value :: key_len
      integer(c_int), value :: value
    end subroutine c_update_bool

    ! void dft_update_string_n(dft_region region, const char *key, size_t key_len, const char *text, size_t len);
    subroutine c_update_string(region, key, key_len, text, len) bind(c, name='dft_update_string_n')
      import :: c_char, c_size_t, c_int64_t
      integer(c_int64_t), value :: region
      character(kind=c_char), intent(in) :: key(*), text(*)
      integer(c_size_t), value :: key_len, len
    end subroutine c_update_string

    ! void dft_instant_n(const char *name, size_t name_len, const char *cat, size_t cat_len, const dft_arg *args,
    !                    uint32_t count);
    subroutine c_instant(name, name_len, cat, cat_len, args, count) bind(c, name='dft_instant_n')
      import :: c_char, c_size_t, c_int32_t, c_arg
      character(kind=c_char), intent(in) :: name(*), cat(*)
      integer(c_size_t), value :: name_len, cat_len
      type(c_arg), intent(in) :: args(*)
      integer(c_int32_t), value :: count
    end subroutine c_instant

    ! void dft_counter_n(const char *name, size_t name_len, const char *cat, size_t cat_len, double value);
    subroutine c_counter(name, name_len, cat, cat_len, value) bind(c, name='dft_counter_n')
      import :: c_char, c_size_t, c_double
      character(kind=c_char), intent(in) :: name(*), cat(*)
      integer(c_size_t), value :: name_len, cat_len
      real(c_double), value :: value
    end subroutine c_counter

    ! void dft_metadata_n(const char *key, size_t key_len, const char *value, size_t value_len);
    subroutine c_metadata(key, key_len, value, value_len) bind(c, name='dft_metadata_n')
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: key(*), value(*)
      integer(c_size_t), value :: key_len, value_len
    end subroutine c_metadata

    ! void dft_log_event_n(const char *name, size_t name_len, const char *cat, size_t cat_len, uint64_t start,
    !                      uint64_t duration, uint32_t tid, const dft_arg *args, uint32_t count);
    subroutine c_log_event(name, name_len, cat, cat_len, start, duration, tid, args, count) bind(c, name='dft_log_event_n')
      import :: c_char, c_size_t, c_int32_t, c_int64_t, c_arg
      character(kind=c_char), intent(in) :: name(*), cat(*)
      integer(c_size_t), value :: name_len, cat_len
      integer(c_int64_t), value :: start, duration
      integer(c_int32_t), value :: tid
      type(c_arg), intent(in) :: args(*)
      integer(c_int32_t), value :: count
    end subroutine c_log_event

    ! void dft_set_rank(int32_t rank, int32_t size);
    subroutine c_set_rank(rank, size) bind(c, name='dft_set_rank')
      import :: c_int32_t
      integer(c_int32_t), value :: rank, size
    end subroutine c_set_rank

    ! int32_t dft_rank(void);
    function c_rank() bind(c, name='dft_rank') result(rank)
      import :: c_int32_t
      integer(c_int32_t) :: rank
    end function c_rank

    ! int32_t dft_size(void);
    function c_size() bind(c, name='dft_size') result(size)
      import :: c_int32_t
      integer(c_int32_t) :: size
    end function c_size

    ! void dft_thread_name_n(const char *name, size_t name_len);
    subroutine c_thread_name(name, name_len) bind(c, name='dft_thread_name_n')
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: name_len
    end subroutine c_thread_name
  end interface

end module dftracer_c
