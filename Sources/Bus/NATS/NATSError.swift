/// The failure of an operation on a NATS connection.
package struct NATSError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// No process subscribes to the subject of the request.
        case noResponders
        /// No reply arrived in time.
        case timeout
        /// There is no connection to a server now. A request whose reply is missing may have been executed.
        case disconnected
        /// `run()` has ended.
        case closed
        /// No server accepts the user: it, its key or its password is not known, or its key file does not exist.
        case unauthenticated
        /// The server does not permit this user to publish or subscribe to the subject.
        case denied
        /// The message is larger than the server's `max_payload`.
        case tooLarge
        /// Too much data waits to be sent.
        case congested
        /// A reader was so slow that messages for it had to be dropped.
        case overflow
        /// A server lacks messages that another one has.
        case incomplete
        /// A setting, a subject, a header or a reply is invalid.
        case invalid
    }

    package let code: Code
    /// One line that says what is wrong and where.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension NATSError: CustomStringConvertible {
    package var description: String { message }
}

extension NATSError {
    static let closed = NATSError(.closed, "the connection to NATS is closed: its run() has ended")

    /// - Parameter reason: What a server has answered, or what the key file lacks.
    package static func unauthenticated(at servers: String, _ reason: String) -> NATSError {
        NATSError(
            .unauthenticated,
            "the NATS servers at \(servers) do not accept the key of this process (\(reason)); after a change of keys, "
                + "export their users again, and reload the servers")
    }

    static func disconnected(_ subject: String) -> NATSError {
        NATSError(.disconnected, "no connection to a NATS server while '\(subject)' was sent; try again")
    }

    static func noResponders(_ subject: String) -> NATSError {
        NATSError(.noResponders, "no process answers requests to '\(subject)'")
    }

    static func timeout(_ subject: String, _ duration: Duration) -> NATSError {
        NATSError(.timeout, "no reply to '\(subject)' within \(duration)")
    }
}
