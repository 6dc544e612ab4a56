/// Which document a message is, as bytes that live as long as the message's frame.
struct DocumentIdentity {
    let type: [UInt8]
    let subject: UnsafeRawBufferPointer
    let key: UnsafeRawBufferPointer

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
