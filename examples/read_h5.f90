! read_h5.f90 - reads an HDF5 trace with HDF5's Fortran interface: how often each name comes, and the time in it.
!
!   DFTRACER_ENABLE=1 DFTRACER_SINK=hdf5 DFTRACER_LOG_FILE=trace ./program;  read_h5 trace-*.h5
!
! A column is one data set; texts are rows of /names, counted from 0. sinks/FORMAT.md draws the file.
! SPDX-License-Identifier: MIT
program read_h5
  use, intrinsic :: iso_fortran_env, only: int32, int64, error_unit
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc
  use hdf5
  implicit none
  character(len=4096) :: path
  character(len=:), allocatable, target :: names(:)
  integer(int64), allocatable, target :: duration(:)
  integer(int32), allocatable, target :: name(:)
  integer(int64), allocatable :: total(:), count(:)
  integer(hid_t) :: file
  integer :: i, status

  call get_command_argument(1, path)
  call h5open_f(status)
  call h5fopen_f(trim(path), H5F_ACC_RDONLY_F, file, status)
  if (status < 0) then
    write (error_unit, '(3a)') 'read_h5: ', trim(path), ' cannot be opened'
    error stop 1
  end if
  call read_names(file, names)
  allocate (duration(rows_of(file, 'events/dur')), name(rows_of(file, 'events/name')))
  call read_column(file, 'events/dur', H5T_STD_I64LE, c_loc(duration))
  call read_column(file, 'events/name', H5T_STD_I32LE, c_loc(name))
  call h5fclose_f(file, status)

  allocate (total(0:size(names) - 1), count(0:size(names) - 1), source=0_int64)
  do i = 1, size(name)
    total(name(i)) = total(name(i)) + duration(i)
    count(name(i)) = count(name(i)) + 1
  end do
  do i = 0, size(names) - 1
    if (count(i) > 0) print '(i12, i16, 2x, a)', count(i), total(i), trim_zeros(names(i + 1))
  end do

contains

  function rows_of(place, column) result(rows)
    integer(hid_t), intent(in) :: place
    character(len=*), intent(in) :: column
    integer(hsize_t) :: rows, dims(1), most(1)
    integer(hid_t) :: data_set, space
    call h5dopen_f(place, column, data_set, status)
    call h5dget_space_f(data_set, space, status)
    call h5sget_simple_extent_dims_f(space, dims, most, status)
    call h5sclose_f(space, status)
    call h5dclose_f(data_set, status)
    rows = dims(1)
  end function rows_of

  subroutine read_column(place, column, type, into)
    integer(hid_t), intent(in) :: place, type
    character(len=*), intent(in) :: column
    type(c_ptr), intent(in) :: into
    integer(hid_t) :: data_set
    type(c_ptr) :: values
    values = into
    call h5dopen_f(place, column, data_set, status)
    call h5dread_f(data_set, type, values, status)
    if (status < 0) error stop 'read_h5: a column cannot be read'
    call h5dclose_f(data_set, status)
  end subroutine read_column

  ! Texts of fixed length, as wide as the longest.
  subroutine read_names(place, texts)
    integer(hid_t), intent(in) :: place
    character(len=:), allocatable, target, intent(out) :: texts(:)
    integer(hid_t) :: data_set, type
    integer(size_t) :: width
    type(c_ptr) :: values
    call h5dopen_f(place, 'names', data_set, status)
    call h5dget_type_f(data_set, type, status)
    call h5tget_size_f(type, width, status)
    allocate (character(len=width) :: texts(rows_of(place, 'names')))
    values = c_loc(texts(1)(1:1))
    call h5dread_f(data_set, type, values, status)
    call h5tclose_f(type, status)
    call h5dclose_f(data_set, status)
  end subroutine read_names

  ! Without the zeros that fill it up; an ETX stands behind a name that itself ends with a zero, or with an ETX.
  pure function trim_zeros(text) result(short)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: short
    integer :: last
    last = verify(text, achar(0), back=.true.)
    if (last > 0) then
      if (text(last:last) == achar(3)) last = last - 1
    end if
    short = text(1:last)
  end function trim_zeros
end program read_h5
