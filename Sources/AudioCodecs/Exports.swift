// Callers of a codec catch its errors.
@_exported import enum EarshotAudioBase.CodecError
