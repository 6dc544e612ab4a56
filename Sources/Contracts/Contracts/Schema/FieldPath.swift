internal import EventBus
internal import Support

/// Finds the path of a message's field in JSON by a key path.
///
/// The message is decoded from sample values, and then again with each of its values changed. The changes that change
/// the key path's value are those of its field.
enum FieldPath {
    private struct Value {
        let path: [String]
        let type: Any.Type
    }

    /// The dotted path of a field, such as `song.title`.
    ///
    /// - Throws: ``SchemaError`` if the message cannot be decoded from sample values, or if the key path does not lead
    ///   to a value that is decoded with its own type.
    static func path<M: Decodable>(of keyPath: PartialKeyPath<M>) throws -> String {
        var values: [Value] = []
        let sample = try SchemaProbe { values.append(Value(path: $0, type: $1)) }.sample(of: M.self).value
        let usual = sample[keyPath: keyPath]
        let changing = try Set(values.map(\.path)).filter { path in
            let other = try SchemaProbe(changing: path).sample(of: M.self).value
            return !isEqual(usual, other[keyPath: keyPath])
        }
        let wanted = type(of: keyPath).valueType
        let fields = values.filter { value in
            !value.path.isEmpty && (value.type == wanted || optional(value.type) == wanted)
                && changing.allSatisfy { Array($0.prefix(value.path.count)) == value.path }
        }
        guard !changing.isEmpty, let field = fields.min(by: { $0.path.count < $1.path.count }) else {
            throw SchemaError(
                description: "\(keyPath) is not a field that \(M.self) decodes; write the name of a field instead")
        }
        return field.path.joined(separator: ".")
    }

    private static func isEqual(_ value: Any, _ other: Any) -> Bool {
        func isEqual<E: Equatable>(_ value: E) -> Bool { other as? E == value }
        if let value = value as? any Equatable { return isEqual(value) }
        return String(reflecting: value) == String(reflecting: other)
    }

    private static func optional(_ type: Any.Type) -> Any.Type {
        func optional<T>(_ type: T.Type) -> Any.Type { T?.self }
        return _openExistential(type, do: optional)
    }
}
