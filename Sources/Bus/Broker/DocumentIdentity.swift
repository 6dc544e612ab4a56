internal import BusProtocol
internal import EventBus

/// Which document a message is, as bytes that live as long as the message's frame.
struct DocumentIdentity {
    let type: [UInt8]
    let subject: UnsafeRawBufferPointer
    let key: UnsafeRawBufferPointer

    /// The document that a request asks for, for as long as `body` runs.
    static func with<Result>(
        _ request: DocumentRequest, _ body: (DocumentIdentity) throws -> Result
    ) rethrows -> Result {
        try Array(request.subject.utf8).withUnsafeBytes { subject in
            try Array(request.key.utf8).withUnsafeBytes { key in
                try body(DocumentIdentity(type: Array(request.type.description.utf8), subject: subject, key: key))
            }
        }
    }

    /// Binds the first three parameters of a statement and runs `body`.
    func bound<Result>(to statement: RawStatement, _ body: (RawStatement) throws -> Result) throws -> Result {
        try type.withUnsafeBytes { type in
            defer { statement.reset() }
            statement.bind(text: type, at: 1)
            statement.bind(text: subject, at: 2)
            statement.bind(text: key, at: 3)
            return try body(statement)
        }
    }
}
