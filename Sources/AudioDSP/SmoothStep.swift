// SPDX-License-Identifier: Apache-2.0

/// Returns the weight of a fade at `share` of its length: 3x² − 2x³, from 0 to 1 with a slope of 0 at both ends. A fade with corners
/// would make a loud tone click. Safe on the render thread.
@_noLocks @inlinable
package func smoothStep(_ share: Float) -> Float { share * share * (3 - 2 * share) }
