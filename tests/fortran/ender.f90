! ender.f90 - ways in which Fortran programs end inside regions. Usage: ender MANNER
! SPDX-License-Identifier: MIT
program ender
  use, intrinsic :: iso_c_binding, only: c_int
  use dftracer
  implicit none
  interface
    subroutine raise_signal(number) bind(c, name='raise')
      import :: c_int
      integer(c_int), value :: number
    end subroutine raise_signal
  end interface
  integer, parameter :: EVENTS = 5000
  character(len=20) :: manner
  integer :: i

  call get_command_argument(1, manner)
  call dft_region_begin('around', 'end')
  call dft_update('state', 'not ended')
  do i = 1, EVENTS
    call dft_step_begin('step', i, 'end')
    call dft_step_end()
  end do
  select case (manner)
  case ('stop')
    stop
  case ('stop code')
    stop 3
  case ('error stop')
    error stop
  case ('error stop text')
    error stop 'diverged'
  case ('killed')
    call raise_signal(9_c_int)
  case ('runtime error')
    open (unit=77, file='/nowhere/at/all', status='old')
  case ('unmatched')
    call dft_region_end()
    call dft_region_end()
    call dft_region_end()
  case ('unbalanced')
    do i = 1, 4
      call dft_region_end()
    end do
    call dft_region_begin('first', 'open')
    call dft_region_begin('second', 'open')
  case ('early return')
    call leave(0)
    call leave(1)
    call leave(2)
  end select

contains

  subroutine leave(when)
    integer, intent(in) :: when
    type(dft_region) :: here
    type(dft_loop) :: loop
    integer :: n
    if (when == 0) return
    call here%begin('here', 'end')
    call dft_update('when', when)
    call loop%begin('loop', 'end')
    do n = 1, 3
      call loop%step(n)
      if (n == when) return
    end do
  end subroutine leave
end program ender
