! sums_f08.f90 - MPI through the module mpi_f08: objects as handles, choice buffers, sentinels.
! SPDX-License-Identifier: MIT
program sums_f08
  use mpi_f08
  implicit none
  integer :: me, ranks, got, all(8)
  double precision :: x, y(3)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  x = me
  y = x
  call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, y, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Isend(me, 1, MPI_INTEGER, mod(me + 1, ranks), 5, MPI_COMM_WORLD, requests(1))
  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Gather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Send(me, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
  call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half)
  call MPI_Bcast(y, 3, MPI_DOUBLE_PRECISION, 0, half)
  call MPI_Comm_free(half)
  call MPI_Finalize()
end program sums_f08
