// SPDX-License-Identifier: Apache-2.0

// Callers of a codec need `CodecError` to catch the codec's errors.
@_exported import enum EarshotAudioBase.CodecError
