// Who uses a codec catches its errors.
@_exported import enum AudioBase.CodecError
