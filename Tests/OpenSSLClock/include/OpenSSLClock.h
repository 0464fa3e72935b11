// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gives OpenSSL on the calling thread the machine's clock if `does` is not 0, otherwise the tests' clock.
void earshot_openssl_uses_machine_clock(int does);
