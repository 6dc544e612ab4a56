extension DecodingError {
    /// One line: what is wrong, and at which path of the JSON.
    public var summary: String {
        let context =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): context
            case .keyNotFound(let key, let context):
                Context(codingPath: context.codingPath, debugDescription: "the field '\(key.stringValue)' is missing")
            @unknown default: Context(codingPath: [], debugDescription: "\(self)")
            }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return (path.isEmpty ? context.debugDescription : "at \(path): \(context.debugDescription)").shortened()
    }
}
