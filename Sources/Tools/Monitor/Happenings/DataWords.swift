internal import EventBus
internal import Support

/// The words for the data of a message: the line that its contract gives, or the fields that a line can show.
struct DataWords {
    struct Field {
        let name: String
        let text: String
        /// The hash of the whole value.
        let hash: Int
    }

    /// The hashes of the values of a version of a document. The next version is compared with them.
    struct Hashes: Sendable {
        var fields: [String: Int]
        /// The hash of the values in the line. Nil if there is no line.
        var line: Int?
    }

    /// The maximum number of fields on a line.
    private static let limit = 4
    /// The maximum number of fields of a message that are compared.
    private static let comparedLimit = 64

    /// The fields with strings, numbers, booleans and arrays. Empty for data that is not a JSON object.
    let fields: [Field]
    /// Nil if there is no template, or if the data does not have all its fields.
    private let line: LineTemplate.Line?

    /// - Parameter template: The template that the contract of the message gives. Nil if there is none.
    init(_ message: Envelope, _ template: LineTemplate?) {
        guard let data = try? JSONValue(parsing: message.data), let members = data.objectValue else {
            (fields, line) = ([], nil)
            return
        }
        fields = members.sorted { $0.key < $1.key }.prefix(Self.comparedLimit).compactMap { name, value in
            Self.text(of: value).map {
                Field(name: JSONValue.string(name).summary, text: $0, hash: value.hashValue)
            }
        }
        line = template?.line(of: data)
    }

    /// The line, or else the fields.
    var all: [String] { line.map { [$0.text] } ?? Self.words(fields) }

    /// The line if one of its values has changed, or else the fields that have changed.
    /// - Parameter former: The hashes of the version before. Nil if it is not known; then all words are returned.
    func changed(since former: Hashes?) -> [String] {
        guard let former else { return all }
        if let line, line.hash != former.line { return [line.text] }
        return Self.words(fields.filter { former.fields[$0.name] != $0.hash })
    }

    var hashes: Hashes {
        Hashes(fields: Dictionary(fields.map { ($0.name, $0.hash) }) { first, _ in first }, line: line?.hash)
    }

    /// Nil for a value that is not shown. Of an array only the size is shown.
    private static func text(of value: JSONValue) -> String? {
        guard case .array(let elements) = value else { return scalarText(of: value) }
        switch elements.count {
        case 0: return "[]"
        case 1: return "[1 item]"
        default: return "[\(elements.count) items]"
        }
    }

    /// The text of a string, a number or a boolean; nil for another value. A string with spaces is in quotation marks.
    static func scalarText(of value: JSONValue) -> String? {
        switch value {
        case .null, .object, .array: nil
        case .string(let text) where text.unicodeScalars.contains(" "): "\"\(value.summary)\""
        case .string, .bool, .integer, .number: value.summary
        }
    }

    /// `name=value` for each field.
    private static func words(_ fields: [Field]) -> [String] {
        let shown = fields.prefix(limit).map { "\($0.name)=\($0.text)" }
        return fields.count > limit ? shown + ["…"] : shown
    }
}
