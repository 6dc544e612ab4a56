internal import CNATS
internal import Glibc
internal import Support
internal import Synchronization

/// A message that was received.
///
/// It owns the memory in which libnats received it. The body is not copied until ``body`` is read, and the headers are
/// not parsed until one of them is read.
///
/// - Note: `@unchecked Sendable`: subject, reply and body of a `natsMsg` do not change after it has been received, so
///   any thread may read them. Reading a header parses all of them on the first call and changes the `natsMsg`;
///   `headerLock` protects these calls.
package final class NATSMessage: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let headerLock = Mutex(())

    /// Takes ownership of a `natsMsg`.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        MessageDisposal.add(pointer)
    }

    package var subject: String { natsMsg_GetSubject(pointer).map { String(cString: $0) } ?? "" }

    /// The subject for a reply. Nil if the sender expects none.
    package var reply: String? { natsMsg_GetReply(pointer).map { String(cString: $0) } }

    /// A copy of the body.
    package var body: [UInt8] { withBody { Array($0) } }

    package var bodySize: Int { Int(natsMsg_GetDataLength(pointer)) }

    /// Reads the body in place. The buffer is valid until `read` returns.
    package func withBody<Result, Failure: Error>(
        _ read: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try read(UnsafeRawBufferPointer(start: natsMsg_GetData(pointer), count: bodySize))
    }

    /// The first value of a header. Names are case-sensitive.
    package func header(_ name: String) -> String? {
        headerLock.withLock { _ in
            var value: UnsafePointer<CChar>?
            let status = name.withCString { natsMsgHeader_Get(pointer, $0, &value) }
            guard status == NATS_OK, let value else { return nil }
            return String(cString: value)
        }
    }

    /// All headers; of a header with several values only the first one. In no particular order.
    package var headers: NATSHeaders {
        let names: [String] = headerLock.withLock { _ in
            var keys: UnsafeMutablePointer<UnsafePointer<CChar>?>?
            var count: Int32 = 0
            guard natsMsgHeader_Keys(pointer, &keys, &count) == NATS_OK, let keys else { return [] }
            // libnats owns the names, and the caller the array of pointers to them (nats.h, natsMsgHeader_Keys).
            defer { free(keys) }
            return (0..<Int(count)).compactMap { index in keys[index].map { String(cString: $0) } }
        }
        var headers = NATSHeaders()
        for name in names {
            if let value = header(name) { headers[name] = value }
        }
        return headers
    }

    /// The status of a message that the server itself sent, such as 404. Nil for a message of a publisher.
    package var status: Int? {
        // A message of the server has no body. This test makes most messages need no parsing.
        bodySize == 0 ? header("Status").flatMap { Int($0) } : nil
    }

    /// The text beside the ``status``.
    package var statusText: String { header("Description") ?? "" }
}

/// Frees messages of libnats, several at a time.
///
/// libnats frees each message on a thread of its own, and wakes this thread for it. For small messages that is more
/// expensive than receiving them.
private enum MessageDisposal {
    /// - Note: `@unchecked Sendable`: the message has no other user.
    private struct Message: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private struct Waiting {
        var messages: [Message] = []
        var size = 0
    }

    private static let maximumCount = 64
    /// The maximum size of the messages that wait, in bytes.
    private static let maximumSize = 64 << 10
    private static let waiting = Mutex(Waiting())

    /// Takes ownership of a `natsMsg` that is no longer used.
    static func add(_ message: OpaquePointer) {
        let size = Int(natsMsg_GetDataLength(message))
        let message = Message(pointer: message)
        let due: [Message] = waiting.withLock { waiting in
            waiting.messages.append(message)
            waiting.size += size
            guard waiting.messages.count >= maximumCount || waiting.size >= maximumSize else { return [] }
            defer { waiting = Waiting() }
            return waiting.messages
        }
        for message in due { natsMsg_Destroy(message.pointer) }
    }
}

/// A message to be sent.
///
/// - Note: `@unchecked Sendable`: the sender creates the `natsMsg` and does not use it afterwards; then only the thread
///   of the connection uses it.
final class OutgoingMessage: @unchecked Sendable {
    let pointer: OpaquePointer
    let subject: String
    /// The size of the body in bytes.
    let size: Int

    /// Copies the body, once.
    /// - Throws: ``NATSError`` `invalid` or `tooLarge`.
    init(_ subject: String, reply: String?, headers: NATSHeaders, body: [UInt8]) throws(NATSError) {
        // libnats would pass on a space or a line break, and the server would read it as protocol.
        guard !subject.isEmpty, subject.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw NATSError(.invalid, "'\(subject)' is not a subject; it must not be empty or contain spaces")
        }
        for header in headers {
            let name = header.name.utf8
            guard !name.isEmpty, name.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }),
                header.value.utf8.allSatisfy({ $0 != 0 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
            else {
                throw NATSError(.invalid, "the header '\(header.name)' of '\(subject)' is not one line of text")
            }
        }
        guard let length = Int32(exactly: body.count) else {
            throw NATSError(.tooLarge, "the message to '\(subject)' has \(body.count) bytes")
        }
        try NATSLibrary.open()
        var created: OpaquePointer?
        let status = body.withUnsafeBytes { bytes in
            // Swift copies a string that it passes to C, but not for `withCString`.
            subject.withCString { subject in
                reply.withCString { reply in
                    natsMsg_Create(
                        &created, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length)
                }
            }
        }
        guard status == NATS_OK, let created else { throw NATSError(status, subject) }
        for header in headers {
            let status = header.name.withCString { name in
                header.value.withCString { natsMsgHeader_Set(created, name, $0) }
            }
            guard status == NATS_OK else {
                natsMsg_Destroy(created)
                throw NATSError(status, subject)
            }
        }
        pointer = created
        self.subject = subject
        size = body.count
    }

    deinit {
        MessageDisposal.add(pointer)
    }
}

extension String? {
    fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        if let self { self.withCString(body) } else { body(nil) }
    }
}

extension NATSError {
    /// The error for a status of libnats other than `NATS_OK`.
    /// - Parameter subject: The subject that was used.
    init(_ status: natsStatus, _ subject: String) {
        let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
        self =
            switch status {
            case NATS_MAX_PAYLOAD:
                NATSError(.tooLarge, "the message to '\(subject)' is larger than the server's max_payload")
            case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_NOT_YET_CONNECTED, NATS_NO_SERVER,
                NATS_IO_ERROR, NATS_STALE_CONNECTION, NATS_INSUFFICIENT_BUFFER, NATS_TIMEOUT:
                .disconnected(subject)
            case NATS_NOT_PERMITTED: NATSError(.denied, "'\(subject)' is not permitted to this user")
            default: NATSError(.invalid, "libnats refuses '\(subject)': \(text)")
            }
    }
}
