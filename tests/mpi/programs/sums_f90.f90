! sums_f90.f90 - MPI through the module mpi.
! SPDX-License-Identifier: MIT
program sums_f90
  use mpi
  implicit none
  integer :: me, ranks, got, all(8)
  double precision :: x, y(3)
  integer :: requests(2), half, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  x = me
  y = x
  call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, y, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Isend(me, 1, MPI_INTEGER, mod(me + 1, ranks), 5, MPI_COMM_WORLD, requests(1), error)
  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Gather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Send(me, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, error)
  call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, error)
  call MPI_Bcast(y, 3, MPI_DOUBLE_PRECISION, 0, half, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program sums_f90
