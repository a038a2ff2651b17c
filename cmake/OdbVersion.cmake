# The git commit is read at build time, not at configure time, so that `odb-trainer version` never prints an old one.
function(odb_add_version_source out_variable)
  set(generated ${CMAKE_BINARY_DIR}/generated/version.cc)
  add_custom_target(odb_version_source ALL
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DTEMPLATE=${CMAKE_SOURCE_DIR}/apps/trainer/version.cc.in
            -DOUTPUT=${generated} -DVERSION=${PROJECT_VERSION} -P ${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake
    BYPRODUCTS ${generated}
    COMMENT "Reading the git commit")
  set(${out_variable} ${generated} PARENT_SCOPE)
endfunction()
