// SPDX-License-Identifier: Apache-2.0

// Callers of a codec catch its errors.
@_exported import enum EarshotAudioBase.CodecError
