# What goes into the wheel: the module and its stub, lib/ with the library, bin/kith, and the command that starts it.

# Names of their own: an installed libkith that the process has loaded must not be taken for these. One file each, since a
# wheel has no links.
set_target_properties(kith PROPERTIES OUTPUT_NAME kith_wheel)
set_target_properties(kith_io PROPERTIES OUTPUT_NAME kith_wheel_io)
foreach(library kith kith_io)
  set_property(TARGET ${library} PROPERTY VERSION)
  set_property(TARGET ${library} PROPERTY SOVERSION)
endforeach()
set_target_properties(kith_python PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
set_target_properties(kith_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")

install(TARGETS kith_python LIBRARY DESTINATION kith COMPONENT python)
install(TARGETS kith kith_io LIBRARY DESTINATION kith/lib COMPONENT python)
install(TARGETS kith_cli RUNTIME DESTINATION kith/bin COMPONENT python)
install(FILES ${package}/_kith.pyi DESTINATION kith COMPONENT python)
install(PROGRAMS command.py DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME kith COMPONENT python)
