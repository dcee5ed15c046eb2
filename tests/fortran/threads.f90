! threads.f90 - regions in every construct of OpenMP that makes threads or work for them; test_openmp.py reads the trace.
!
! Each region carries omp_get_thread_num() as `thread`; each inner one names the region it lies in as `in`.
! SPDX-License-Identifier: MIT
program threads
  use omp_lib
  use dftracer
  implicit none
  integer, parameter :: ITERATIONS = 2000, TASKS = 200
  type(dft_site) :: site
  integer :: i

  site = dft_site('by handle', 'omp')
  call dft_region_begin('program', 'omp')
  !$omp parallel num_threads(4)
  if (omp_get_thread_num() == 2) call dft_thread_name('named') ! the others are called by their numbers
  call dft_region_begin('parallel', 'omp')
  call dft_update('thread', omp_get_thread_num())
  !$omp barrier
  !$omp do
  do i = 1, ITERATIONS
    call dft_region_begin('do', 'omp')
    call dft_update('i', i)
    call dft_update('thread', omp_get_thread_num())
    call dft_region_begin(site)
    call dft_update('i', i)
    call dft_region_end()
    call dft_region_end()
  end do
  !$omp end do
  !$omp sections
  !$omp section
  call work('section', 1)
  !$omp section
  call work('section', 2)
  !$omp end sections
  !$omp single
  do i = 1, TASKS
    !$omp task firstprivate(i)
    call work('task', i)
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  call dft_region_end()
  !$omp end parallel
  call dft_region_end()

contains

  subroutine work(name, i)
    character(len=*), intent(in) :: name
    integer, intent(in) :: i
    type(dft_region) :: here
    call here%begin(name, 'omp')
    call dft_update('i', i)
    call dft_update('thread', omp_get_thread_num())
    call dft_region_begin('inside', 'omp')
    call dft_update('in', name)
    call dft_update('i', i)
    call dft_region_end()
    if (mod(i, 2) == 0) return ! the end of `here` is the compiler's
    call here%end()
  end subroutine work
end program threads
