! switched_off.f90 - what the module says without DFTRACER_ENABLE, or built with the stub: everything is accepted, nothing done.
! SPDX-License-Identifier: MIT
program switched_off
  use dftracer
  implicit none
  type(dft_site) :: site
  type(dft_region) :: region
  type(dft_loop) :: loop
  type(dft_args) :: args
  integer :: stat

  call dft_initialize(stat=stat)
  if (stat /= DFT_EDISABLED) error stop 'initialize'
  if (dft_is_enabled()) error stop 'enabled'
  site = dft_site('site', 'off')
  call dft_region_begin('name', 'off', stat)
  if (stat /= DFT_EDISABLED) error stop 'begin by name'
  call dft_update('key', 1, stat=stat)
  if (stat /= DFT_EDISABLED) error stop 'update'
  call dft_region_end(stat)
  if (stat /= DFT_EDISABLED) error stop 'end'
  call dft_region_begin(site, stat)
  if (stat /= DFT_EDISABLED) error stop 'begin by handle'
  call dft_region_end()
  call region%begin('region', stat=stat)
  if (stat /= DFT_EDISABLED) error stop 'begin by variable'
  call dft_update('key', 'text', region)
  call region%end()
  call loop%begin('loop')
  call loop%step(1)
  call loop%end()
  call args%add('key', 1)
  call args%add('text', 'abc')
  call dft_instant('instant', args=args)
  call dft_counter('counter', 1)
  call dft_metadata('key', 'value')
  call dft_log_event('event', 'off', dft_time(), dft_time())
  if (dft_time() /= 0) error stop 'time'
  call dft_finalize()
end program switched_off
