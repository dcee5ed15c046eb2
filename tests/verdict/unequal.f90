! unequal.f90 - one rank of a job in Fortran in which rank 1 computes three times as long; it measures itself (see truth.py).
!
! The work is sleeping. What was measured goes to the file truth-RANK.
! SPDX-License-Identifier: MIT
program unequal
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_long, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64
  use dftracer
  implicit none
  integer, parameter :: STEPS = 20, SHORT_US = 15000, EXCHANGE_US = 1000
  integer :: unit, rank, step
  integer(int64) :: begin, whole
  character(len=20) :: text

  interface
    ! int usleep(useconds_t usec);
    integer(c_int) function c_usleep(us) bind(c, name='usleep')
      import :: c_int
      integer(c_int), value :: us
    end function c_usleep
    ! ssize_t write(int fd, const void *buf, size_t count);
    integer(c_long) function c_write(fd, bytes, count) bind(c, name='write')
      import :: c_char, c_int, c_long, c_size_t
      integer(c_int), value :: fd
      character(kind=c_char), intent(in) :: bytes(*)
      integer(c_size_t), value :: count
    end function c_write
    ! ssize_t read(int fd, void *buf, size_t count);
    integer(c_long) function c_read(fd, bytes, count) bind(c, name='read')
      import :: c_char, c_int, c_long, c_size_t
      integer(c_int), value :: fd
      character(kind=c_char), intent(out) :: bytes(*)
      integer(c_size_t), value :: count
    end function c_read
  end interface

  call get_environment_variable('RANK', text)
  read (text, *) rank
  open (newunit=unit, file='truth-'//trim(text), status='replace')
  call meet() ! or a rank that starts late would be the imbalance of the first collective
  call dft_region_begin('open', 'job') ! the first event opens the trace, which takes its time on a busy machine
  call dft_region_end()
  whole = now()
  do step = 1, STEPS
    begin = now()
    call dft_region_begin('smooth', 'solver')
    call rest(merge(3 * SHORT_US, SHORT_US, rank == 1))
    call dft_region_end()
    call note('compute', 'smooth', begin)
    begin = now()
    call dft_region_begin('exchange', 'comm')
    call meet()
    call rest(EXCHANGE_US)
    call dft_region_end()
    call note('comm', 'exchange', begin)
  end do
  call note('whole', 'job', whole)
  close (unit)

contains

  integer(int64) function now()
    integer(int64) :: rate
    call system_clock(now, rate)
    now = now * (1000000000_int64 / rate)
  end function now

  subroutine note(kind, name, begin)
    character(len=*), intent(in) :: kind, name
    integer(int64), intent(in) :: begin
    write (unit, '(a,1x,a,1x,i0,1x,i0)') kind, name, begin, now()
  end subroutine note

  subroutine rest(us)
    integer, intent(in) :: us
    if (c_usleep(int(us, c_int)) /= 0) error stop 'usleep'
  end subroutine rest

  ! Returns when every rank is here: each writes a byte to each other one.
  subroutine meet()
    integer :: ranks, i
    integer, allocatable :: ends(:)
    character(len=200) :: list
    character(kind=c_char) :: byte(1)
    call get_environment_variable('WORLD_SIZE', list)
    read (list, *) ranks
    allocate (ends(ranks)) ! the one to read, then those of the others
    call get_environment_variable('MEETING', list)
    read (list, *) ends
    byte = 'x'
    do i = 2, ranks
      if (c_write(int(ends(i), c_int), byte, 1_c_size_t) /= 1) error stop 'write'
    end do
    do i = 2, ranks
      if (c_read(int(ends(1), c_int), byte, 1_c_size_t) /= 1) error stop 'read'
    end do
  end subroutine meet
end program unequal
