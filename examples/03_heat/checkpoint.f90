! checkpoint.f90 - writes the block of each rank to its own files: stream I/O for restarts, HDF5 for people and tools.
! SPDX-License-Identifier: MIT
module checkpoint
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use hdf5
  use dftracer
  use grid, only: block_of_rank
  implicit none
  private
  public :: write_checkpoint, read_checkpoint

contains

  function name_of(folder, rank, step, suffix) result(name)
    character(len=*), intent(in) :: folder, suffix
    integer, intent(in) :: rank, step
    character(len=:), allocatable :: name
    character(len=40) :: numbers
    write (numbers, '("/heat-", i4.4, "-rank", i0)') step, rank
    name = folder//trim(numbers)//suffix
  end function name_of

  subroutine write_checkpoint(block, folder, rank, step)
    type(block_of_rank), intent(in) :: block
    character(len=*), intent(in) :: folder
    integer, intent(in) :: rank, step
    call dft_step_begin('checkpoint', step, 'io')
    call write_stream(block, name_of(folder, rank, step, '.bin'))
    call write_hdf5(block, name_of(folder, rank, step, '.h5'))
    call dft_step_end()
  end subroutine write_checkpoint

  subroutine write_stream(block, name)
    type(block_of_rank), intent(in) :: block
    character(len=*), intent(in) :: name
    integer :: unit
    call dft_region_begin('checkpoint.stream', 'io')
    call dft_update('file', name)
    open (newunit=unit, file=name, access='stream', form='unformatted', status='replace')
    write (unit) block%first, block%cells
    write (unit) block%now
    close (unit)
    call dft_update('bytes', size(block%now, kind=int64)*storage_size(block%now)/8 + 16)
    call dft_region_end()
  end subroutine write_stream

  subroutine write_hdf5(block, name)
    type(block_of_rank), intent(in) :: block
    character(len=*), intent(in) :: name
    integer(hid_t) :: file, space, table
    integer(hsize_t) :: extent(2)
    integer :: error
    call dft_region_begin('checkpoint.hdf5', 'io')
    call dft_update('file', name)
    extent = block%cells
    call h5open_f(error)
    call h5fcreate_f(name, H5F_ACC_TRUNC_F, file, error)
    call h5screate_simple_f(2, extent, space, error)
    call h5dcreate_f(file, 'temperature', H5T_NATIVE_DOUBLE, space, table, error)
    call h5dwrite_f(table, H5T_NATIVE_DOUBLE, block%now(1:block%cells(1), 1:block%cells(2)), extent, error)
    call h5dclose_f(table, error)
    call h5sclose_f(space, error)
    call h5fclose_f(file, error)
    call dft_update('ok', error == 0)
    call dft_region_end()
  end subroutine write_hdf5

  !> True when the file holds what the block holds.
  logical function read_checkpoint(block, folder, rank, step)
    type(block_of_rank), intent(in) :: block
    character(len=*), intent(in) :: folder
    integer, intent(in) :: rank, step
    type(dft_region) :: here
    real(real64), allocatable :: copy(:, :)
    integer :: unit, first(2), cells(2), status
    call here%begin('verify checkpoint', 'io')
    read_checkpoint = .false.
    open (newunit=unit, file=name_of(folder, rank, step, '.bin'), access='stream', form='unformatted', status='old', &
      action='read', iostat=status)
    if (status /= 0) return ! the region ends with its variable
    read (unit) first, cells
    allocate (copy(0:cells(1) + 1, 0:cells(2) + 1))
    read (unit) copy
    close (unit)
    read_checkpoint = all(first == block%first) .and. all(copy == block%now)
    call here%end()
  end function read_checkpoint
end module checkpoint
