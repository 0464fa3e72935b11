import AudioBase
