! grid.f90 - a 2D grid that is distributed over the ranks in blocks, and the halo exchange between them. Nothing is annotated
! here: dftracer records the MPI calls themselves.
! SPDX-License-Identifier: MIT
module grid
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private
  public :: block_of_rank, make_block, exchange, sum_of

  type :: block_of_rank
    type(MPI_Comm) :: comm
    integer :: west, east, south, north ! the ranks beside this one; MPI_PROC_NULL at the rim
    integer :: first(2), cells(2)       ! where the block begins in the plane, and how large it is
    real(real64), allocatable :: now(:, :), next(:, :) ! with one cell more on each side
  end type block_of_rank

contains

  subroutine make_block(block, nx, ny)
    type(block_of_rank), intent(out) :: block
    integer, intent(in) :: nx, ny
    integer :: ranks, rank, dims(2), coords(2)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., block%comm)
    call MPI_Comm_rank(block%comm, rank)
    call MPI_Cart_coords(block%comm, rank, 2, coords)
    call MPI_Cart_shift(block%comm, 0, 1, block%west, block%east)
    call MPI_Cart_shift(block%comm, 1, 1, block%south, block%north)
    block%first = coords*[nx, ny]/dims
    block%cells = (coords + 1)*[nx, ny]/dims - block%first
    allocate (block%now(0:block%cells(1) + 1, 0:block%cells(2) + 1), source=0.0_real64)
    allocate (block%next, source=block%now)
  end subroutine make_block

  !> Every block gets the cells beside its border from the ranks beside it.
  subroutine exchange(block)
    type(block_of_rank), intent(inout) :: block
    real(real64) :: column(block%cells(2)), beside(block%cells(2))
    integer :: nx, ny
    nx = block%cells(1)
    ny = block%cells(2)
    associate (now => block%now)
      call MPI_Sendrecv(now(1, ny), nx, MPI_REAL8, block%north, 1, now(1, 0), nx, MPI_REAL8, block%south, 1, &
        block%comm, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(now(1, 1), nx, MPI_REAL8, block%south, 2, now(1, ny + 1), nx, MPI_REAL8, block%north, 2, &
        block%comm, MPI_STATUS_IGNORE)
      column = now(nx, 1:ny)
      beside = now(0, 1:ny)
      call MPI_Sendrecv(column, ny, MPI_REAL8, block%east, 3, beside, ny, MPI_REAL8, block%west, 3, block%comm, &
        MPI_STATUS_IGNORE)
      now(0, 1:ny) = beside
      column = now(1, 1:ny)
      beside = now(nx + 1, 1:ny)
      call MPI_Sendrecv(column, ny, MPI_REAL8, block%west, 4, beside, ny, MPI_REAL8, block%east, 4, block%comm, &
        MPI_STATUS_IGNORE)
      now(nx + 1, 1:ny) = beside
    end associate
  end subroutine exchange

  real(real64) function sum_of(block, value)
    type(block_of_rank), intent(in) :: block
    real(real64), intent(in) :: value
    call MPI_Allreduce(value, sum_of, 1, MPI_REAL8, MPI_SUM, block%comm)
  end function sum_of
end module grid
