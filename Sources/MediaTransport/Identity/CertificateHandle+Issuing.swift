// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

extension CertificateHandle {
    private static let secondsPerDay: Int64 = 86_400

    /// Creates a self-signed certificate (RFC 5280): valid from a day before `date`, for clocks that differ, to 397 days after,
    /// as browsers reject 398 or more. Its serial number is random.
    /// - Parameter date: the current time in seconds since 1970.
    static func issue(
        for key: KeyHandle, hostNames: [String], addresses: [IPAddress], at date: Int64
    ) throws(IdentityError) -> CertificateHandle {
        guard let pointer = unsafe X509_new() else { throw .system(OpenSSL.takeReason()) }
        do throws(IdentityError) {
            unsafe try setSerialAndNames(pointer)
            unsafe try setDates(pointer, date)
            guard unsafe X509_set_pubkey(pointer, key.pointer) == 1 else { throw .system(OpenSSL.takeReason()) }
            unsafe try add(pointer, NID_basic_constraints, "critical,CA:FALSE")
            unsafe try add(pointer, NID_key_usage, "critical,digitalSignature")
            unsafe try add(pointer, NID_ext_key_usage, "serverAuth,clientAuth")
            unsafe try addNames(pointer, hostNames, addresses)
            guard unsafe X509_sign(pointer, key.pointer, EVP_sha256()) > 0 else { throw .system(OpenSSL.takeReason()) }
        } catch {
            unsafe X509_free(pointer)
            throw error
        }
        return unsafe try CertificateHandle(taking: pointer)
    }

    private static func setSerialAndNames(_ certificate: OpaquePointer) throws(IdentityError) {
        var serial = [UInt8](repeating: 0, count: 16)
        let name = unsafe X509_get_subject_name(certificate)
        guard unsafe RAND_bytes(&serial, 16) == 1, unsafe X509_set_version(certificate, CLong(X509_VERSION_3)) == 1
        else {
            throw .system(OpenSSL.takeReason())
        }
        serial[0] = serial[0] & 0x7F | 0x40  // positive, and always 16 bytes long
        let number = unsafe BN_bin2bn(serial, 16, nil)
        defer { unsafe BN_free(number) }
        guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil,
            unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, "Earshot", -1, -1, 0) == 1,
            unsafe X509_set_issuer_name(certificate, name) == 1
        else { throw .system(OpenSSL.takeReason()) }
    }

    private static func setDates(_ certificate: OpaquePointer, _ date: Int64) throws(IdentityError) {
        // A certificate's years have four digits; OpenSSL counts leap years in integers that overflow.
        guard (-secondsPerDay * 365...secondsPerDay * 365 * 7_000).contains(date),
            unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), Int(date - secondsPerDay)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), Int(date + 397 * secondsPerDay)) != nil
        else { throw .badDate(date) }
    }

    private static func add(_ certificate: OpaquePointer, _ kind: CInt, _ value: String) throws(IdentityError) {
        let item = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value)
        defer { unsafe X509_EXTENSION_free(item) }
        guard let item = unsafe item, unsafe X509_add_ext(certificate, item, -1) == 1 else {
            throw .system(OpenSSL.takeReason())
        }
    }

    /// Adds host names and addresses (RFC 5280 §4.2.1.6), each once. Each is a separate field, so that no name can inject another
    /// field.
    private static func addNames(
        _ certificate: OpaquePointer, _ hostNames: [String], _ addresses: [IPAddress]
    ) throws(IdentityError) {
        var fields: [(kind: CInt, bytes: [UInt8])] = []
        func add(_ kind: CInt, _ bytes: [UInt8]) {
            if !fields.contains(where: { $0 == (kind, bytes) }) { fields.append((kind, bytes)) }
        }
        for name in hostNames {
            guard isHostName(name) else { throw .badHostName(name) }
            add(GEN_DNS, Array(name.utf8))
        }
        for address in addresses { add(GEN_IPADD, address.networkBytes) }
        guard fields.count <= Identity.maximumNames else { throw .tooManyNames(fields.count) }
        guard !fields.isEmpty else { return }
        guard let names = unsafe GENERAL_NAMES_new() else { throw .system(OpenSSL.takeReason()) }
        defer { unsafe GENERAL_NAMES_free(names) }
        for field in fields {
            guard let name = unsafe GENERAL_NAME_new() else { throw .system(OpenSSL.takeReason()) }
            let text = unsafe field.kind == GEN_DNS ? ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new()
            // The name now owns the text.
            if let text = unsafe text { unsafe GENERAL_NAME_set0_value(name, field.kind, text) }
            guard let text = unsafe text, unsafe ASN1_STRING_set(text, field.bytes, CInt(field.bytes.count)) == 1,
                unsafe earshot_add_name(names, name) > 0
            else {
                unsafe GENERAL_NAME_free(name)
                throw .system(OpenSSL.takeReason())
            }
        }
        guard unsafe X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(names), 0, 0) == 1
        else {
            throw .system(OpenSSL.takeReason())
        }
    }

    /// Returns true if a name has 1 to 253 bytes, all letters, digits, hyphens, underscores and dots (RFC 1123 §2.1, and common
    /// use).
    private static func isHostName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension IPAddress {
    /// The address's 4 or 16 bytes in network order, without the scope.
    fileprivate var networkBytes: [UInt8] {
        switch self {
        case .v4(let bits): unsafe withUnsafeBytes(of: bits.bigEndian) { unsafe Array($0) }
        case .v6(let bits, _): unsafe withUnsafeBytes(of: bits.bigEndian) { unsafe Array($0) }
        }
    }
}
