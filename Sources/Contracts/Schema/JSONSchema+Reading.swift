public import Navigation

extension JSONSchema {
    /// Why a reader cannot take all that a writer may send.
    public struct Clash: Hashable, Sendable {
        public enum Reason: Hashable, Sendable {
            /// The writer never sends it, and the reader needs it.
            case missing
            /// The writer may leave it out, and the reader needs it.
            case optional
            /// The writer may send `null`.
            case null
            /// The writer may send this value, which the reader does not know.
            case value(JSONValue)
            /// The writer sends something else than the reader expects.
            case form(writes: JSONSchema, reads: JSONSchema)
        }

        /// Where, as in `data.songs[].title`.
        public let path: String
        public let reason: Reason
    }

    /// Where a reader of this schema cannot take what a writer of another sends. Members that it does not know are passed
    /// over, as `Codable` does.
    ///
    /// - Parameter path: what the value is called.
    public func clashes(readingFrom writer: JSONSchema, at path: String = "data") -> [Clash] {
        switch (self, writer) {
        case (.any, _), (.number, .integer), (.map(.any), .object): []
        case (.nullable(let reader), .nullable(let writer)): reader.clashes(readingFrom: writer, at: path)
        case (.nullable(let reader), _): reader.clashes(readingFrom: writer, at: path)
        case (_, .nullable(let writer)):
            [Clash(path: path, reason: .null)] + clashes(readingFrom: writer, at: path)
        case (.enumeration(let known), .enumeration(let sent)):
            sent.filter { !known.contains($0) }.map { Clash(path: path, reason: .value($0)) }
        case (_, .enumeration(let sent)) where sent.allSatisfy { problems(with: $0).isEmpty }: []
        case (.array(let reader), .array(let writer)): reader.clashes(readingFrom: writer, at: "\(path)[]")
        case (.map(let reader), .map(let writer)): reader.clashes(readingFrom: writer, at: "\(path).*")
        case (.map(let reader), .object(let writer)):
            writer.sorted { $0.key < $1.key }.flatMap {
                reader.clashes(readingFrom: $1.schema, at: "\(path).\($0)")
            }
        case (.object(let reader), .object(let writer)): Self.clashes(of: reader, readingFrom: writer, path)
        case _ where self == writer: []
        default: [Clash(path: path, reason: .form(writes: writer, reads: self))]
        }
    }

    private static func clashes(
        of reader: [String: Property], readingFrom writer: [String: Property], _ path: String
    ) -> [Clash] {
        reader.sorted { $0.key < $1.key }.flatMap { name, member -> [Clash] in
            let path = "\(path).\(name)"
            guard let sent = writer[name] else {
                return member.isRequired ? [Clash(path: path, reason: .missing)] : []
            }
            let isLeftOut = member.isRequired && !sent.isRequired
            return (isLeftOut ? [Clash(path: path, reason: .optional)] : [])
                + member.schema.clashes(readingFrom: sent.schema, at: path)
        }
    }
}
