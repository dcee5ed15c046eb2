! every_fortran.F90 - MPI calls of every kind from Fortran, with its sentinels; writes how often each was called and with
! how many bytes into FOLDER/RANK. With -DF08 through mpi_f08, with -DF90 through the module mpi, else through mpif.h.
! SPDX-License-Identifier: MIT
#ifdef F08
#define USES use mpi_f08
#define INCLUDES
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define FILEHANDLE type(MPI_File)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define MESSAGE type(MPI_Message)
#define STATUS(name) type(MPI_Status) :: name
#define SOURCE_OF(name) name%MPI_SOURCE
#else
#ifdef F90
#define USES use mpi
#define INCLUDES
#else
#define USES
#define INCLUDES include 'mpif.h'
#endif
#define COMM integer
#define REQUEST integer
#define WINDOW integer
#define FILEHANDLE integer
#define DATATYPE integer
#define GROUP integer
#define MESSAGE integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define SOURCE_OF(name) name(MPI_SOURCE)
#endif
#define DO(name, bytes) call tally(name, bytes); call
#define WORLD MPI_COMM_WORLD

module counting
  implicit none
  integer, parameter :: rows = 200, room = 4096
  character(40) :: names(rows) = ''
  integer :: calls(rows) = 0, bytes(rows) = 0
  integer :: me, ranks, left, right, error
  integer :: out(room) = 0, in(room) = 0
contains
  subroutine tally(name, more)
    character(*), intent(in) :: name
    integer, intent(in) :: more
    integer :: i
    do i = 1, rows
      if (names(i) == name .or. names(i) == '') exit
    end do
    names(i) = name
    calls(i) = calls(i) + 1
    bytes(i) = bytes(i) + more
  end subroutine tally

  subroutine must(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) error stop what
  end subroutine must

  subroutine save_counts(folder)
    character(*), intent(in) :: folder
    character(20) :: number
    integer :: i, unit
    write (number, '(i0)') me
    open (newunit=unit, file=trim(folder)//'/'//trim(number))
    do i = 1, rows
      if (names(i) /= '') write (unit, '(a, 2(1x, i0))') trim(names(i)), calls(i), bytes(i)
    end do
    close (unit)
  end subroutine save_counts
end module counting

! Five integers to the right, from the left.
subroutine messages()
  USES
  use counting
  implicit none
  INCLUDES
  STATUS(status)
  REQUEST :: one, two(2)
  MESSAGE :: message
  DATATYPE :: absolute, vector
  integer(MPI_ADDRESS_KIND) :: address(1)
  integer :: i, lengths(1)
  logical :: flag
  DO('MPI_Irecv', 20) MPI_Irecv(in, 5, MPI_INTEGER, left, 1, WORLD, one, error)
  DO('MPI_Send', 20) MPI_Send(out, 5, MPI_INTEGER, right, 1, WORLD, error)
  DO('MPI_Wait', 20) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Isend', 20) MPI_Isend(out, 5, MPI_INTEGER, right, 2, WORLD, one, error)
  DO('MPI_Probe', 0) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, status, error)
  call must(SOURCE_OF(status) == left, 'Probe')
  DO('MPI_Recv', 20) MPI_Recv(in, 5, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, status, error)
  call must(SOURCE_OF(status) == left, 'Recv')
  DO('MPI_Wait', 20) MPI_Wait(one, status, error)
  DO('MPI_Irecv', 20) MPI_Irecv(in, 5, MPI_INTEGER, left, 3, WORLD, one, error)
  DO('MPI_Ssend', 20) MPI_Ssend(out(1:9:2), 5, MPI_INTEGER, right, 3, WORLD, error)
  DO('MPI_Wait', 20) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Sendrecv', 8) MPI_Sendrecv(out, 2, MPI_INTEGER, right, 4, in, 5, MPI_INTEGER, left, 4, WORLD, status, error)
  DO('MPI_Sendrecv_replace', 8) MPI_Sendrecv_replace(in, 1, MPI_DOUBLE_PRECISION, right, 4, left, 4, WORLD, MPI_STATUS_IGNORE, error)
  DO('MPI_Isend', 4) MPI_Isend(out, 1, MPI_INTEGER, right, 5, WORLD, one, error)
  DO('MPI_Mprobe', 0) MPI_Mprobe(left, 5, WORLD, message, status, error)
  DO('MPI_Mrecv', 4) MPI_Mrecv(in, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, error)
  DO('MPI_Wait', 4) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Iprobe', 0) MPI_Iprobe(left, 999, WORLD, flag, MPI_STATUS_IGNORE, error)
  call must(.not. flag, 'Iprobe')
  DO('MPI_Send', 0) MPI_Send(out, 9, MPI_INTEGER, MPI_PROC_NULL, 5, WORLD, error)
  DO('MPI_Recv', 0) MPI_Recv(in, 9, MPI_INTEGER, MPI_PROC_NULL, 5, WORLD, MPI_STATUS_IGNORE, error)
  ! Nothing; a derived type; a type that holds the address.
  DO('MPI_Isend', 0) MPI_Isend(out, 0, MPI_INTEGER, right, 6, WORLD, one, error)
  DO('MPI_Recv', 0) MPI_Recv(in, 0, MPI_INTEGER, left, 6, WORLD, MPI_STATUS_IGNORE, error)
  DO('MPI_Wait', 0) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector, error)
  call MPI_Type_commit(vector, error)
  call MPI_Get_address(out, address(1), error)
  lengths(1) = 7
  call MPI_Type_create_hindexed(1, lengths, address, MPI_INTEGER, absolute, error)
  call MPI_Type_commit(absolute, error)
  DO('MPI_Irecv', 48) MPI_Irecv(in, 2, vector, left, 7, WORLD, two(1), error)
  DO('MPI_Irecv', 28) MPI_Irecv(in(100:), 7, MPI_INTEGER, left, 8, WORLD, two(2), error)
  DO('MPI_Send', 48) MPI_Send(out, 2, vector, right, 7, WORLD, error)
  out(7) = 77
  DO('MPI_Send', 28) MPI_Send(MPI_BOTTOM, 1, absolute, right, 8, WORLD, error)
  DO('MPI_Waitall', 76) MPI_Waitall(2, two, MPI_STATUSES_IGNORE, error)
  call must(in(106) == 77, 'MPI_BOTTOM')
  call MPI_Type_free(vector, error)
  call MPI_Type_free(absolute, error)
  DO('MPI_Recv_init', 4) MPI_Recv_init(in, 1, MPI_INTEGER, left, 9, WORLD, two(1), error)
  DO('MPI_Send_init', 4) MPI_Send_init(out, 1, MPI_INTEGER, right, 9, WORLD, two(2), error)
  do i = 1, 3
    DO('MPI_Startall', 8) MPI_Startall(2, two, error)
    DO('MPI_Waitall', 8) MPI_Waitall(2, two, MPI_STATUSES_IGNORE, error)
  end do
  DO('MPI_Start', 4) MPI_Start(two(1), error)
  DO('MPI_Start', 4) MPI_Start(two(2), error)
  DO('MPI_Wait', 4) MPI_Wait(two(2), status, error)
  DO('MPI_Wait', 4) MPI_Wait(two(1), status, error)
  DO('MPI_Request_free', 0) MPI_Request_free(two(1), error)
  DO('MPI_Request_free', 0) MPI_Request_free(two(2), error)
end subroutine messages

! Twelve messages of i integers to oneself, and MPI_REQUEST_NULL between them.
subroutine begin_many(many)
  USES
  use counting
  implicit none
  INCLUDES
  REQUEST :: many(30)
  integer :: i
  many = MPI_REQUEST_NULL
  do i = 1, 12
    DO('MPI_Irecv', 4 * i) MPI_Irecv(in(100 * i:), i, MPI_INTEGER, me, i, WORLD, many(i), error)
    DO('MPI_Isend', 4 * i) MPI_Isend(out, i, MPI_INTEGER, me, i, WORLD, many(15 + i), error)
  end do
end subroutine begin_many

subroutine requests()
  USES
  use counting
  implicit none
  INCLUDES
  REQUEST :: many(30), before(30)
  STATUS(status)
  integer :: i, at, count, indices(30)
  logical :: flag
  call begin_many(many)
  DO('MPI_Waitall', 624) MPI_Waitall(30, many, MPI_STATUSES_IGNORE, error)
  DO('MPI_Waitall', 0) MPI_Waitall(30, many, MPI_STATUSES_IGNORE, error)
  call begin_many(many)
  do i = 1, 24
    before = many
    call MPI_Waitany(30, many, at, status, error)
    call tally('MPI_Waitany', completed(before))
  end do
  call begin_many(many)
  do while (any_left())
    before = many
    call MPI_Waitsome(30, many, count, indices, MPI_STATUSES_IGNORE, error)
    call tally('MPI_Waitsome', completed(before))
  end do
  call begin_many(many)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(30, many, flag, MPI_STATUSES_IGNORE, error)
    call tally('MPI_Testall', merge(624, 0, flag))
  end do
  call begin_many(many)
  do i = 1, 30
    flag = .false.
    do while (.not. flag)
      call MPI_Test(many(i), flag, MPI_STATUS_IGNORE, error)
      call tally('MPI_Test', merge(bytes_of(i), 0, flag))
    end do
  end do
contains
  integer function bytes_of(i)
    integer, intent(in) :: i
    bytes_of = 4 * merge(i, i - 15, i <= 12)
    if (i > 27 .or. (i > 12 .and. i < 16)) bytes_of = 0
  end function bytes_of

  logical function any_left()
    integer :: i
    any_left = .false.
    do i = 1, 30
      if (many(i) /= MPI_REQUEST_NULL) any_left = .true.
    end do
  end function any_left

  ! By the handles: the indices that mpi_f08 of MPICH 4.0 gives are one too low.
  integer function completed(before)
    REQUEST, intent(in) :: before(30)
    integer :: i
    completed = 0
    do i = 1, 30
      if (before(i) /= MPI_REQUEST_NULL .and. many(i) == MPI_REQUEST_NULL) completed = completed + bytes_of(i)
    end do
  end function completed
end subroutine requests

subroutine collectives()
  USES
  use counting
  implicit none
  INCLUDES
  integer :: i, counts(64), mine(64), places(64), all
  DATATYPE :: types(64)
  REQUEST :: one
  COMM :: ring
  do i = 1, ranks
    counts(i) = i
    mine(i) = me + 1
    places(i) = 64 * (i - 1)
    types(i) = MPI_INTEGER
  end do
  all = 2 * ranks * (ranks + 1)
  DO('MPI_Barrier', 0) MPI_Barrier(WORLD, error)
  DO('MPI_Bcast', 12) MPI_Bcast(in, 3, MPI_INTEGER, 0, WORLD, error)
  DO('MPI_Allreduce', 12) MPI_Allreduce(out, in, 3, MPI_INTEGER, MPI_SUM, WORLD, error)
  in(1:3) = 1
  DO('MPI_Allreduce', 12) MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_INTEGER, MPI_SUM, WORLD, error)
  call must(in(2) == ranks, 'MPI_IN_PLACE')
  if (me == 0) then
    DO('MPI_Reduce', 12) MPI_Reduce(MPI_IN_PLACE, in, 3, MPI_INTEGER, MPI_SUM, 0, WORLD, error)
    DO('MPI_Gather', 8) MPI_Gather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, 0, WORLD, error)
    DO('MPI_Scatter', 8 * ranks) MPI_Scatter(out, 2, MPI_INTEGER, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, 0, WORLD, error)
    DO('MPI_Gatherv', 4) MPI_Gatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, counts, places, MPI_INTEGER, 0, WORLD, error)
    DO('MPI_Scatterv', all) MPI_Scatterv(out, counts, places, MPI_INTEGER, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, 0, WORLD, error)
  else
    DO('MPI_Reduce', 12) MPI_Reduce(out, in, 3, MPI_INTEGER, MPI_SUM, 0, WORLD, error)
    DO('MPI_Gather', 8) MPI_Gather(out, 2, MPI_INTEGER, in, -7, MPI_DATATYPE_NULL, 0, WORLD, error)
    DO('MPI_Scatter', 8) MPI_Scatter(out, -7, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, 0, WORLD, error)
    DO('MPI_Gatherv', 4 * (me + 1)) MPI_Gatherv(out, me + 1, MPI_INTEGER, in, counts, places, MPI_DATATYPE_NULL, 0, WORLD, error)
    DO('MPI_Scatterv', 4 * (me + 1)) MPI_Scatterv(out, counts, places, MPI_DATATYPE_NULL, in, me + 1, MPI_INTEGER, 0, WORLD, error)
  end if
  DO('MPI_Allgather', 8) MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, WORLD, error)
  DO('MPI_Allgather', 8) MPI_Allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, WORLD, error)
  DO('MPI_Allgatherv', 4 * (me + 1)) MPI_Allgatherv(out, me + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, WORLD, error)
  DO('MPI_Alltoall', 8 * ranks) MPI_Alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, WORLD, error)
  DO('MPI_Alltoall', 8 * ranks) MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, WORLD, error)
  DO('MPI_Alltoallv', 4 * (me + 1) * ranks) MPI_Alltoallv(out, mine, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, WORLD, error)
  DO('MPI_Alltoallw', 4 * (me + 1) * ranks) MPI_Alltoallw(out, mine, places, types, in, counts, places, types, WORLD, error)
  DO('MPI_Reduce_scatter', all) MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, WORLD, error)
  DO('MPI_Reduce_scatter_block', 8 * ranks) MPI_Reduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, WORLD, error)
  DO('MPI_Scan', 12) MPI_Scan(MPI_IN_PLACE, in, 3, MPI_INTEGER, MPI_SUM, WORLD, error)
  DO('MPI_Exscan', 12) MPI_Exscan(out, in, 3, MPI_INTEGER, MPI_SUM, WORLD, error)
  DO('MPI_Ibarrier', 0) MPI_Ibarrier(WORLD, one, error)
  DO('MPI_Wait', 0) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Ibcast', 12) MPI_Ibcast(in, 3, MPI_INTEGER, 0, WORLD, one, error)
  DO('MPI_Wait', 12) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Iallreduce', 12) MPI_Iallreduce(MPI_IN_PLACE, in, 3, MPI_INTEGER, MPI_SUM, WORLD, one, error)
  DO('MPI_Wait', 12) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Ialltoallv', 4 * (me + 1) * ranks) MPI_Ialltoallv(out, mine, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, WORLD, one, error)
  DO('MPI_Wait', 4 * (me + 1) * ranks) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Cart_create', 0) MPI_Cart_create(WORLD, 1, (/ranks/), (/.true./), .false., ring, error)
  DO('MPI_Neighbor_allgather', 8) MPI_Neighbor_allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, ring, error)
  DO('MPI_Neighbor_alltoall', 16) MPI_Neighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, ring, error)
  DO('MPI_Neighbor_alltoallv', 12) MPI_Neighbor_alltoallv(out, (/1, 2/), places, MPI_INTEGER, in, (/2, 1/), places, MPI_INTEGER, ring, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(ring, error)
end subroutine collectives

subroutine communicators()
  USES
  use counting
  implicit none
  INCLUDES
  COMM :: made, half, both
  GROUP :: everyone
  integer :: is_low
  DO('MPI_Comm_dup', 0) MPI_Comm_dup(WORLD, made, error)
  DO('MPI_Allreduce', 4) MPI_Allreduce(out, in, 1, MPI_INTEGER, MPI_SUM, made, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(made, error)
  DO('MPI_Comm_split_type', 0) MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(made, error)
  call MPI_Comm_group(WORLD, everyone, error)
  DO('MPI_Comm_create', 0) MPI_Comm_create(WORLD, everyone, made, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(made, error)
  DO('MPI_Comm_create_group', 0) MPI_Comm_create_group(WORLD, everyone, 5, made, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(made, error)
  call MPI_Group_free(everyone, error)
  is_low = merge(1, 0, me < ranks / 2)
  DO('MPI_Comm_split', 0) MPI_Comm_split(WORLD, is_low, me, half, error)
  DO('MPI_Intercomm_create', 0) MPI_Intercomm_create(half, 0, WORLD, merge(ranks / 2, 0, is_low == 1), 3, both, error)
  if (is_low == 0) then
    DO('MPI_Bcast', 12) MPI_Bcast(in, 3, MPI_INTEGER, 0, both, error)
  else if (me == 0) then
    DO('MPI_Bcast', 12) MPI_Bcast(in, 3, MPI_INTEGER, MPI_ROOT, both, error)
  else
    DO('MPI_Bcast', 0) MPI_Bcast(in, 3, MPI_INTEGER, MPI_PROC_NULL, both, error)
  end if
  DO('MPI_Intercomm_merge', 0) MPI_Intercomm_merge(both, is_low == 1, made, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(made, error)
  DO('MPI_Comm_disconnect', 0) MPI_Comm_disconnect(both, error)
  DO('MPI_Comm_free', 0) MPI_Comm_free(half, error)
end subroutine communicators

subroutine windows()
  USES
  use counting
  implicit none
  INCLUDES
  WINDOW :: window
  REQUEST :: one
  integer :: memory(64)
  integer(MPI_ADDRESS_KIND) :: zero = 0
  DO('MPI_Win_create', 0) MPI_Win_create(memory, 256_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, WORLD, window, error)
  DO('MPI_Win_fence', 0) MPI_Win_fence(0, window, error)
  DO('MPI_Put', 12) MPI_Put(out, 3, MPI_INTEGER, right, zero, 3, MPI_INTEGER, window, error)
  DO('MPI_Win_fence', 0) MPI_Win_fence(0, window, error)
  DO('MPI_Win_lock', 0) MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window, error)
  DO('MPI_Get', 12) MPI_Get(in, 3, MPI_INTEGER, right, zero, 3, MPI_INTEGER, window, error)
  DO('MPI_Accumulate', 12) MPI_Accumulate(out, 3, MPI_INTEGER, right, zero, 3, MPI_INTEGER, MPI_SUM, window, error)
  DO('MPI_Fetch_and_op', 4) MPI_Fetch_and_op(out, in, MPI_INTEGER, right, zero, MPI_SUM, window, error)
  DO('MPI_Rput', 12) MPI_Rput(out, 3, MPI_INTEGER, right, zero, 3, MPI_INTEGER, window, one, error)
  DO('MPI_Wait', 12) MPI_Wait(one, MPI_STATUS_IGNORE, error)
  DO('MPI_Win_unlock', 0) MPI_Win_unlock(right, window, error)
  DO('MPI_Win_free', 0) MPI_Win_free(window, error)
end subroutine windows

subroutine files(folder)
  USES
  use counting
  implicit none
  INCLUDES
  character(*), intent(in) :: folder
  FILEHANDLE :: file
  REQUEST :: one
  STATUS(status)
  character(400) :: path ! with blanks at its end
  integer(MPI_OFFSET_KIND) :: own, zero = 0
  path = trim(folder)//'/data'
  own = 4096 + 12 * me
  DO('MPI_File_open', 0) MPI_File_open(WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  call must(error == MPI_SUCCESS, 'File_open')
  DO('MPI_File_set_size', 0) MPI_File_set_size(file, 8192_MPI_OFFSET_KIND, error)
  DO('MPI_File_write_at', 12) MPI_File_write_at(file, own, out, 3, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  DO('MPI_File_write_at_all', 12) MPI_File_write_at_all(file, own, out, 3, MPI_INTEGER, status, error)
  DO('MPI_File_write_shared', 12) MPI_File_write_shared(file, out, 3, MPI_INTEGER, status, error)
  DO('MPI_File_write_ordered', 12) MPI_File_write_ordered(file, out, 3, MPI_INTEGER, status, error)
  DO('MPI_File_iwrite_at', 12) MPI_File_iwrite_at(file, own, out, 3, MPI_INTEGER, one, error)
  DO('MPI_Wait', 12) MPI_Wait(one, status, error)
  DO('MPI_File_write_all_begin', 12) MPI_File_write_all_begin(file, out, 3, MPI_INTEGER, error)
  DO('MPI_File_write_all_end', 0) MPI_File_write_all_end(file, out, status, error)
  DO('MPI_File_sync', 0) MPI_File_sync(file, error)
  DO('MPI_File_set_view', 0) MPI_File_set_view(file, 1000_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
  DO('MPI_File_seek', 0) MPI_File_seek(file, zero, MPI_SEEK_SET, error)
  DO('MPI_File_write_all', 12) MPI_File_write_all(file, out, 3, MPI_INTEGER, MPI_STATUS_IGNORE, error)
  DO('MPI_File_read_at', 12) MPI_File_read_at(file, 5_MPI_OFFSET_KIND, in, 3, MPI_INTEGER, status, error)
  DO('MPI_File_close', 0) MPI_File_close(file, error)
  DO('MPI_Barrier', 0) MPI_Barrier(WORLD, error)
  if (me == 0) then
    DO('MPI_File_delete', 0) MPI_File_delete(path, MPI_INFO_NULL, error)
  end if
end subroutine files

program every_fortran
  USES
  use counting
  implicit none
  INCLUDES
  character(300) :: folder
  integer :: provided
  call get_command_argument(1, folder)
  DO('MPI_Init_thread', 0) MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  call MPI_Comm_rank(WORLD, me, error)
  call MPI_Comm_size(WORLD, ranks, error)
  right = mod(me + 1, ranks)
  left = mod(me + ranks - 1, ranks)
  call messages()
  call requests()
  call collectives()
  call communicators()
  call windows()
  call files(trim(folder))
  DO('MPI_Finalize', 0) MPI_Finalize(error)
  call save_counts(trim(folder))
end program every_fortran
