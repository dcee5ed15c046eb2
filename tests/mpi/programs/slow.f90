! slow.f90 - rank 3 takes three times as long as the others for the region `advance`.
! SPDX-License-Identifier: MIT
program slow
  use dftracer
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function usleep
  end interface
  integer, parameter :: steps = 60, ms = 1000
  integer :: rank, i, ignored
  double precision :: total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, steps
    call dft_region_begin('advance', 'solver')
    ignored = usleep(int(merge(150, 50, rank == 3) * ms, c_int))
    call dft_region_end()
    call MPI_Allreduce(1d0, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program slow
