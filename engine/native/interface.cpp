// The C interface of the kernels: the only symbols the library exports.
#include <cstdint>

#define PLUMBLINE_API extern "C" __attribute__((visibility("default")))

PLUMBLINE_API std::int32_t plumbline_abi_version() { return 1; }
