package import Foundation
internal import Support

/// An error that JetStream reports.
package struct JetStreamError: Error, Hashable, Sendable {
    /// The numbers of JetStream (`err_code`) that callers distinguish.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The last message of the subject has another sequence than expected.
        package static let wrongLastSequence = Code(rawValue: 10_071)
        /// Another message with an expectation about the same subject is being stored; try again.
        package static let expectationUnderWay = Code(rawValue: 10_164)
        /// Another message with the same id is being stored; try again.
        package static let messageIDUnderWay = Code(rawValue: 10_158)
        /// The stream has reached its limit of bytes or messages.
        package static let limitReached = Code(rawValue: 10_077)
        /// The message is larger than the stream permits.
        package static let messageTooLarge = Code(rawValue: 10_054)
        /// The storage of the server or of the account is full.
        package static let storageFull = Code(rawValue: 10_047)
        /// The server has too little memory, storage or other resources.
        package static let insufficientResources = Code(rawValue: 10_023)
        package static let streamNotFound = Code(rawValue: 10_059)
        package static let consumerNotFound = Code(rawValue: 10_014)
        package static let messageNotFound = Code(rawValue: 10_037)
        /// A stream with this name exists, with other settings.
        package static let streamNameInUse = Code(rawValue: 10_058)
        /// JetStream is not enabled on this server or for this account.
        package static let notEnabled = Code(rawValue: 10_076)
        package static let notEnabledForAccount = Code(rawValue: 10_039)
    }

    /// The status, as in HTTP: 503 if there is no leader now.
    package let status: Int
    package let code: Code
    /// One line with the words of the server, and the subject.
    package let message: String
}

extension JetStreamError: CustomStringConvertible {
    package var description: String { message }
}

extension JetStreamError {
    /// Reads the `error` of a response.
    init(_ error: JSONValue, subject: String) {
        status = error["code"]?.integerValue ?? 500
        code = Code(rawValue: error["err_code"]?.integerValue ?? 0)
        let text = error["description"]?.stringValue ?? "no description"
        message = "JetStream refuses '\(subject)': \(text) (\(code.rawValue))"
    }

    /// The error for a status message of the server.
    init(status: Int, text: String, subject: String) {
        self.status = status
        code = Code(rawValue: status == 404 ? Code.messageNotFound.rawValue : 0)
        message = "JetStream answers '\(subject)' with status \(status): \(text)"
    }
}

extension NATSMessage {
    /// Parses the body as a response of JetStream.
    /// - Throws: ``JetStreamError`` if it is an error; ``NATSError`` `invalid` if it is not JSON.
    func response(to subject: String) throws -> JSONValue {
        let response: JSONValue
        do {
            response = try withBody { try JSONValue(parsing: Data($0)) }
        } catch {
            throw NATSError(.invalid, "the response to '\(subject)' is not JSON")
        }
        if let error = response["error"] { throw JetStreamError(error, subject: subject) }
        return response
    }
}

/// Times of JetStream: RFC 3339 with nanoseconds, and nanoseconds since 1970 in subjects.
package enum JetStreamTime {
    /// Reads a time such as `2026-11-23T16:08:30.123456789Z`, in nanoseconds since 1970.
    static func nanoseconds(from text: String) -> Int64? {
        var seconds = text
        var fraction = ""
        if let (before, rest) = text.cut(at: ".") {
            let digits = rest.unicodeScalars.prefix(while: \.isASCIIDigit)
            fraction = String(digits.prefix(9))
            seconds = String(before) + rest[digits.endIndex...]
        }
        let padded = fraction + String(repeating: "0", count: 9 - fraction.count)
        guard let date = Timestamp.date(from: seconds), let nanoseconds = Int64(padded) else { return nil }
        let whole = Int64(date.timeIntervalSince1970.rounded())
        // 64 bits of nanoseconds end in the year 2262.
        guard (-9_000_000_000...9_000_000_000).contains(whole) else { return nil }
        return whole * 1_000_000_000 + nanoseconds
    }

    /// The time in nanoseconds since 1970; 0 for an earlier one.
    package static func nanoseconds(of date: Date) -> Int64 {
        // 64 bits of nanoseconds end in the year 2262.
        Int64(min(max(0, date.timeIntervalSince1970), 9e9) * 1_000_000_000)
    }

    /// Writes a time for JetStream.
    static func text(of nanoseconds: Int64) -> String {
        let (seconds, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let date = Timestamp.text(of: Date(timeIntervalSince1970: Double(seconds)))
        let digits = String(fraction)
        let padded = String(repeating: "0", count: 9 - digits.count) + digits
        return String(date.prefix(19)) + ".\(padded)Z"
    }
}

extension Duration {
    /// The duration in whole nanoseconds, as JetStream writes durations.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
