// SPDX-License-Identifier: Apache-2.0

/// A DAWproject 1.0 session: an archive of two XML files, which name the stems beside it.
enum DAWProject {
    /// Returns the archive.
    static func archive(_ tracks: [MixStems.Track], seconds: Double, sampleRate: Double, room: String) -> [UInt8] {
        ZIPArchive.bytes([
            ("metadata.xml", Array(metadata(room).utf8)),
            ("project.xml", Array(project(tracks, seconds, sampleRate).utf8)),
        ])
    }

    static func metadata(_ room: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <MetaData>
          <Title>\(escaped(room))</Title>
        </MetaData>

        """
    }

    /// Returns the project: each track has one clip with its file, from the beginning on.
    static func project(_ tracks: [MixStems.Track], _ seconds: Double, _ sampleRate: Double) -> String {
        var structure = ""
        var lanes = ""
        for (index, track) in tracks.enumerated() {
            structure += """
                    <Track contentType="audio" loaded="true" id="track\(index)" name="\(escaped(track.name))">
                      <Channel audioChannels="2" destination="master" role="regular" solo="false" id="channel\(index)">
                        <Pan max="1.0" min="0.0" unit="normalized" value="0.5" id="pan\(index)"/>
                        <Volume max="2.0" min="0.0" unit="linear" value="1.0" id="volume\(index)"/>
                      </Channel>
                    </Track>

                """
            lanes += """
                      <Lanes track="track\(index)" id="lanes\(index)">
                        <Clips id="clips\(index)">
                          <Clip time="0.0" duration="\(seconds)" playStart="0.0" name="\(escaped(track.name))">
                            <Audio channels="2" duration="\(seconds)" sampleRate="\(Int(sampleRate))" id="audio\(index)">
                              <File path="\(escaped(track.fileName))" external="true"/>
                            </Audio>
                          </Clip>
                        </Clips>
                      </Lanes>

                """
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <Project version="1.0">
              <Application name="Earshot" version="1"/>
              <Structure>
            \(structure)    <Track contentType="audio" loaded="true" id="masterTrack" name="Master">
                  <Channel audioChannels="2" role="master" solo="false" id="master"/>
                </Track>
              </Structure>
              <Arrangement id="arrangement">
                <Lanes timeUnit="seconds" id="lanes">
            \(lanes)    </Lanes>
              </Arrangement>
            </Project>

            """
    }

    /// Returns text for an element or attribute of XML 1.0, which excludes most control characters.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where scalar.value < 32 || (0xFFFE...0xFFFF).contains(scalar.value): escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
