! SPDX-License-Identifier: MIT
program modern
  use dftracer
  implicit none
  type(dft_region) :: whole
  type(dft_site) :: site
  type(dft_args) :: args
  integer :: i, stat
  call whole%begin('modern', 'test', stat)
  site = dft_site('step', 'test')
  do i = 1, 3
    call dft_region_begin(site)
    call dft_update('number', i)
    call dft_update('text', 'padded   ')
    call dft_region_end()
  end do
  call args%add('ok', .true.)
  call args%add('by', 'instant')
  call dft_instant('done', 'test', args)
  call whole%end()
  if (stat /= DFT_OK) error stop 'not recorded'
end program modern
