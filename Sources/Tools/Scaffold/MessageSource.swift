/// A message that a package declares, as far as its source tells.
struct MessageSource {
    let message: MessageName
    let fields: [Field]

    /// Looks through the package's vocabulary.
    ///
    /// - Returns: `nil` when it has no file of that name.
    /// - Throws: ``ScaffoldError`` when there is one whose initialiser cannot be read.
    init?(_ message: MessageName, in package: PackageLayout) throws(ScaffoldError) {
        let path = "\(package.folder(of: message))/\(message.name).swift"
        guard let text = package.text(of: path) else { return nil }
        guard let match = text.firstMatch(of: #/init\(([^)]*)\)/#) else {
            throw ScaffoldError(
                "\(path) has no initialiser", recovery: "give its struct one")
        }
        self.message = message
        var fields: [Field] = []
        for parameter in match.1.split(separator: ",") {
            let declaration = parameter.split(separator: "=", maxSplits: 1)[0]
            do throws(ScaffoldError) {
                fields.append(try Field(declaration))
            } catch {
                throw ScaffoldError(
                    "\(path): a value for '\(declaration.trimming(while: \.isWhitespace))' cannot be made up",
                    recovery: "choose another message, and write this service by hand")
            }
        }
        self.fields = fields
    }

    /// An expression with a value of it, in Swift.
    /// - Parameter indent: of its first line.
    static func sample(
        of message: MessageName, _ fields: [Field] = [], from start: String = "", indent: Int
    ) -> String {
        let arguments = fields.filter { $0.json != nil }.map { "\($0.name): \($0.sample)" }
        return Wrapping.list("\(start)\(message.swift)(", arguments, ")", indent: indent)
    }
}
