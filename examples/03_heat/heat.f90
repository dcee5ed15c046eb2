! heat.f90 - a small HPC code with tracing: the 2D heat equation, with MPI, OpenMP, a namelist and checkpoints.
!
!   mpirun -n 4 ./03_heat heat.nml
!
! Explicit time steps; the western boundary is hot, the others are cold. Prints the mean temperature, which does not depend on
! the number of ranks and threads.
! SPDX-License-Identifier: MIT
program heat_equation
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  use dftracer
  use grid
  use checkpoint
  implicit none
  type(block_of_rank) :: block
  type(dft_loop) :: time
  integer :: nx, ny, steps, checkpoint_every, step, rank, threads
  character(len=200) :: folder
  real(real64) :: change, mean
  logical :: is_same

  call dft_initialize() ! before MPI_Init, which is in the trace then; it also tells the rank
  call MPI_Init_thread(MPI_THREAD_FUNNELED, threads)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call read_input()
  call make_block(block, nx, ny)
  if (block%west == MPI_PROC_NULL) block%now(0, :) = 100.0_real64
  if (block%west == MPI_PROC_NULL) block%next(0, :) = 100.0_real64

  call time%begin('time', 'solver')
  do step = 1, steps
    call time%step(step)
    call exchange(block)
    call advance(change)
    if (mod(step, 10) == 0) then
      change = sqrt(sum_of(block, change))
      if (rank == 0) call dft_counter('change', change, 'solver')
    end if
    if (mod(step, checkpoint_every) == 0) call write_checkpoint(block, trim(folder), rank, step)
  end do
  call time%end()

  is_same = read_checkpoint(block, trim(folder), rank, steps - mod(steps, checkpoint_every))
  if (mod(steps, checkpoint_every) == 0 .and. .not. is_same) error stop 'the checkpoint is not what was computed'
  mean = sum_of(block, sum(block%now(1:block%cells(1), 1:block%cells(2))))/(real(nx, real64)*ny)
  if (rank == 0) print '(a, f0.6)', 'mean temperature ', mean
  call MPI_Finalize()
  call dft_finalize()

contains

  subroutine read_input()
    namelist /heat/ nx, ny, steps, checkpoint_every, folder
    character(len=500) :: name
    integer :: unit, status
    call dft_function_begin('read_input')
    nx = 400
    ny = 400
    steps = 20
    checkpoint_every = 10
    folder = '.'
    call get_command_argument(1, name)
    open (newunit=unit, file=name, status='old', action='read', iostat=status)
    if (status == 0) read (unit, nml=heat, iostat=status)
    if (status /= 0) then
      if (rank == 0) write (error_unit, '(a)') 'usage: 03_heat FILE   (a file with the namelist heat)'
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
    close (unit)
    call dft_update('nx', nx)
    call dft_update('ny', ny)
    call dft_update('steps', steps)
    call dft_function_end()
  end subroutine read_input

  !> One time step; `change` is the sum of squares of what changed.
  subroutine advance(change)
    real(real64), intent(out) :: change
    type(dft_region) :: here
    integer :: i, j
    call here%begin('advance', 'compute')
    change = 0
    !$omp parallel reduction(+:change) private(i)
    call dft_region_begin('rows', 'compute')
    !$omp do
    do j = 1, block%cells(2)
      do i = 1, block%cells(1)
        block%next(i, j) = block%now(i, j) + 0.2_real64*(block%now(i - 1, j) + block%now(i + 1, j) + &
          block%now(i, j - 1) + block%now(i, j + 1) - 4*block%now(i, j))
        change = change + (block%next(i, j) - block%now(i, j))**2
      end do
    end do
    !$omp end do nowait
    call dft_region_end()
    !$omp end parallel
    block%now(1:block%cells(1), 1:block%cells(2)) = block%next(1:block%cells(1), 1:block%cells(2))
    call here%end()
  end subroutine advance
end program heat_equation
