/// The type of a message with its fields, in the words of a command line: `command.CoffeeOrdered kind:String`.
package struct MessageShape: Hashable, Sendable {
    let message: MessageName
    let fields: [Field]

    /// - Parameter words: The type, then the fields.
    /// - Throws: ``ScaffoldError`` if there is no type, or a word is invalid.
    package init(_ words: [String]) throws(ScaffoldError) {
        message = try MessageName(words.first ?? "")
        fields = try Field.list(Array(words.dropFirst()))
    }

    /// The command that creates the message.
    var command: String {
        let words = fields.map { field in
            field.type.unicodeScalars.allSatisfy { $0.properties.isAlphabetic }
                ? "\(field.name):\(field.type)" : "'\(field.name):\(field.type)'"
        }
        return (["segue new message \(message.type)"] + words).joined(separator: " ")
    }

    /// The entry of the command in `commands` of a flow, in YAML.
    var flowEntry: String {
        let fields = fields.map { "\($0.name)\($0.isOptional ? "?" : ""): \($0.schema)" }
        return "\(message.type): " + (fields.isEmpty ? "{}" : "{ \(fields.joined(separator: ", ")) }")
    }

    /// A Swift expression that creates the message, after the code `start`. Optional fields are left out.
    /// - Parameter indent: the indentation of the first line, in spaces.
    func expression(from start: String = "", indent: Int) -> String {
        let arguments = fields.filter { $0.json != nil }.map { "\($0.name): \($0.sample)" }
        return Wrapping.list(opening: "\(start)\(message.swift)(", elements: arguments, closing: ")", indent: indent)
    }

    var needsFoundation: Bool { fields.needFoundation }
}

/// The import statements of a new file.
enum Imports {
    /// Modules in the order of their names, without an access level.
    static func plain(_ modules: [String]) -> String { modules.sorted().map { "import \($0)" }.joined(separator: "\n") }

    /// - Parameters:
    ///   - exposed: The modules whose types the file's declarations with access level `package` use.
    ///   - hidden: The other modules.
    ///   - hasInternalImports: True if an import without an access level is internal.
    static func spelled(_ exposed: [String], _ hidden: [String], hasInternalImports: Bool) -> String {
        guard hasInternalImports else { return plain(exposed + hidden) }
        return (exposed + hidden).sorted().map {
            "\(exposed.contains($0) ? "package" : "internal") import \($0)"
        }.joined(separator: "\n")
    }
}
