// SPDX-License-Identifier: Apache-2.0

import CEarshotCurl
import Foundation

/// One request over http or https and its response, by libcurl. For the stream's thread only.
///
/// Certificates are verified. At most five redirects are followed, from https to http only if allowed. User name and password are
/// sent only to the address's own host.
final class HTTPTransfer {
    /// The maximum size of all response heads together, over all redirects, in bytes.
    static let maximumHeadLength = 1 << 16

    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer
    private var optionLists: [UnsafeMutablePointer<curl_slist>] = []
    private let address: StreamAddress
    private let receiveHead: (HTTPHead) -> Void
    private let receiveBody: (UnsafeRawBufferPointer) -> Bool
    private var head: HTTPHead
    private var headLength = 0
    private var hasDeliveredHead = false
    private var isPaused = false

    private static let isLibraryReady: Bool = curl_global_init(CLong(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameters:
    ///   - offset: the first byte to request.
    ///   - receiveBody: receives bytes of the body. If it returns false, it gets the same bytes again after ``resume()``.
    ///     ``work(milliseconds:)`` calls both functions.
    /// - Throws: ``AudioStreamError/system(code:)``.
    init(
        _ address: StreamAddress, offset: Int, options: AudioStreamOptions,
        head receiveHead: @escaping (HTTPHead) -> Void,
        body receiveBody: @escaping (UnsafeRawBufferPointer) -> Bool
    ) throws(AudioStreamError) {
        guard Self.isLibraryReady, let multi = curl_multi_init() else { throw .system(code: ENOMEM) }
        guard let easy = curl_easy_init() else {
            curl_multi_cleanup(multi)
            throw .system(code: ENOMEM)
        }
        self.multi = multi
        self.easy = easy
        self.address = address
        self.receiveHead = receiveHead
        self.receiveBody = receiveBody
        head = HTTPHead(address: address.text)
        configure(offset, options)
        curl_multi_add_handle(multi, easy)
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
        for list in optionLists { curl_slist_free_all(list) }
    }

    private func configure(_ offset: Int, _ options: AudioStreamOptions) {
        _ = earshot_curl_set_text(easy, CURLOPT_URL, address.text)
        _ = earshot_curl_set_protocols(easy, !address.isSecure || options.allowsDowngrade ? 1 : 0)
        _ = earshot_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        _ = earshot_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
        _ = earshot_curl_set_long(easy, CURLOPT_MAXREDIRS, 5)
        _ = earshot_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT, 10)
        _ = earshot_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        _ = earshot_curl_set_text(easy, CURLOPT_USERAGENT, "Earshot")
        if offset > 0 { _ = earshot_curl_set_text(easy, CURLOPT_RANGE, "\(offset)-") }
        if let file = options.certificateFile { _ = earshot_curl_set_text(easy, CURLOPT_CAINFO, file) }
        if let list = curl_slist_append(nil, "Icy-MetaData: 1") {
            _ = earshot_curl_set_list(easy, CURLOPT_HTTPHEADER, list)
            optionLists.append(list)
        }
        if let list = curl_slist_append(nil, "ICY 200 OK") {
            _ = earshot_curl_set_list(easy, CURLOPT_HTTP200ALIASES, list)
            optionLists.append(list)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = earshot_curl_set_header(
            easy,
            { bytes, size, count, context in HTTPTransfer.receiveBytes(bytes, size * count, context, isHead: true) },
            context)
        _ = earshot_curl_set_body(
            easy,
            { bytes, size, count, context in HTTPTransfer.receiveBytes(bytes, size * count, context, isHead: false) },
            context)
    }

    /// Passes bytes from libcurl to the transfer. Returns the number of accepted bytes, or libcurl's code for a pause.
    private static func receiveBytes(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?, isHead: Bool
    ) -> Int {
        guard let context else { return 0 }
        let me = Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
        return isHead ? me.takeHead(bytes) : me.takeBody(bytes)
    }

    private func takeHead(_ line: UnsafeRawBufferPointer) -> Int {
        headLength += line.count
        guard headLength <= Self.maximumHeadLength else { return 0 }
        head.parse(line: String(decoding: line, as: UTF8.self))
        return line.count
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        deliverHead()
        if receiveBody(bytes) { return bytes.count }
        isPaused = true
        return earshot_curl_pause
    }

    private func deliverHead() {
        guard !hasDeliveredHead else { return }
        hasDeliveredHead = true
        if head.status == 0 { head.status = Int(earshot_curl_status(easy)) }
        if let text = earshot_curl_address(easy) { head.address = String(cString: text) }
        receiveHead(head)
    }

    /// Continues receiving after `receiveBody` has returned false.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    /// Sends and receives. Waits for data for at most `milliseconds`, or not at all if `receiveBody` has just returned false.
    /// - Returns: the end of the transfer; nil while it continues.
    func work(milliseconds: Int) -> HTTPEnding? {
        var running: CInt = 0
        let wasPaused = isPaused
        curl_multi_perform(multi, &running)
        var code = earshot_curl_result(multi)
        if code < 0, wasPaused || !isPaused {
            curl_multi_poll(multi, nil, 0, CInt(milliseconds), nil)
            curl_multi_perform(multi, &running)
            code = earshot_curl_result(multi)
        }
        guard code >= 0 else { return nil }
        return ending(CURLcode(UInt32(code)))
    }

    private func ending(_ code: CURLcode) -> HTTPEnding {
        let shown = address.description
        let reason = curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
        switch code {
        case CURLE_OK:
            deliverHead()
            return .complete
        case CURLE_UNSUPPORTED_PROTOCOL: return .failed(.redirectRefused(address: shown))
        case CURLE_URL_MALFORMAT: return .failed(.badAddress(shown))
        case CURLE_TOO_MANY_REDIRECTS: return .failed(.tooManyRedirects(address: shown))
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return .failed(.notTrusted(address: shown, reason: reason))
        case CURLE_WRITE_ERROR where headLength > Self.maximumHeadLength:
            return .failed(.unreachable(address: shown, reason: "the server's answer has a head without end"))
        default:
            if head.status != 0 { deliverHead() }
            return .broken(reason: reason)
        }
    }
}
