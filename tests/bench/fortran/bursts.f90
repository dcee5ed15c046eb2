! bursts.f90 - loops of regions as a Fortran program has them, called by fortran.c.
! SPDX-License-Identifier: MIT
module bursts
  use, intrinsic :: iso_c_binding, only: c_int32_t
  use dftracer
  implicit none
  private
  public :: by_handle, by_name, by_handle_args

contains

  subroutine by_handle(count) bind(c, name='fortran_by_handle')
    integer(c_int32_t), value :: count
    type(dft_site) :: site
    integer :: i
    site = dft_site('step', 'bench')
    do i = 1, count
      call dft_region_begin(site)
      call dft_region_end()
    end do
  end subroutine by_handle

  subroutine by_name(count) bind(c, name='fortran_by_name')
    integer(c_int32_t), value :: count
    integer :: i
    do i = 1, count
      call dft_region_begin('step', 'bench')
      call dft_region_end()
    end do
  end subroutine by_name

  subroutine by_handle_args(count) bind(c, name='fortran_by_handle_args')
    integer(c_int32_t), value :: count
    type(dft_site) :: site
    integer :: i
    site = dft_site('step_args', 'bench')
    do i = 1, count
      call dft_region_begin(site)
      call dft_update('iteration', i)
      call dft_update('phase', 'forward')
      call dft_region_end()
    end do
  end subroutine by_handle_args
end module bursts
