internal import ArgumentParser
internal import Support

/// The verb of a command line: the words that select a subcommand, such as `flow check`.
struct VerbPath {
    /// The options that may also be written before the verb, as in `segue -f app.yaml up`.
    private static let leadingOptions: Set = ["-f", "--file", "--env-file", "--profile", "-p", "--project-name"]

    /// The flags that may also be written before the verb.
    private static let leadingFlags: Set = ["--utc"]

    /// The command that the verb selects.
    let command: any ParsableCommand.Type
    /// The options before the verb, with their values.
    private let leading: [String]
    private let words: [String]
    /// The arguments after the verb.
    private let rest: [String]
    /// The first word that is not a subcommand, and the names of the subcommands at its place. Nil if there is no such
    /// word.
    private let unknown: (word: String, siblings: [String])?

    /// - Parameters:
    ///   - arguments: the command line without the name of the program.
    ///   - root: the command whose subcommands are searched.
    init(_ arguments: [String], of root: any ParsableCommand.Type) {
        let start = Self.endOfLeadingOptions(arguments)
        leading = Array(arguments[..<start])
        var command = root
        var words: [String] = []
        var unknown: (String, [String])?
        for word in arguments[start...] {
            let subcommands = command.configuration.subcommands
            if word.begins(with: "-") || subcommands.isEmpty { break }
            if words.isEmpty, word == "help" {
                words.append(word)
            } else if let next = Self.subcommand(word, of: subcommands) {
                words.append(word)
                command = next
            } else {
                if command.configuration.defaultSubcommand == nil {
                    unknown = (word, Self.names(of: subcommands))
                }
                break
            }
        }
        self.command = command.configuration.defaultSubcommand ?? command
        self.words = words
        self.unknown = unknown
        rest = Array(arguments[(start + words.count)...])
    }

    private static func subcommand(
        _ word: String, of subcommands: [any ParsableCommand.Type]
    ) -> (any ParsableCommand.Type)? {
        for command in subcommands where command._commandName == word || command.configuration.aliases.contains(word) {
            return command
        }
        return nil
    }

    private static func names(of subcommands: [any ParsableCommand.Type]) -> [String] {
        var names: [String] = []
        for command in subcommands where command.configuration.shouldDisplay { names.append(command._commandName) }
        return names
    }

    /// The index after the last leading option.
    private static func endOfLeadingOptions(_ arguments: [String]) -> Int {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if leadingOptions.contains(argument), index + 1 < arguments.count {
                index += 2
            } else if leadingFlags.contains(argument)
                || leadingOptions.contains(where: { $0.begins(with: "--") && argument.begins(with: "\($0)=") })
            {
                index += 1
            } else {
                break
            }
        }
        return index
    }

    /// The arguments with the leading options after the verb. Options without a verb stay where they are.
    var arguments: [String] {
        words.isEmpty ? leading + rest : words + leading + rest
    }

    /// Checks that each word is a subcommand.
    /// - Throws: `ValidationError`, with a suggestion if a subcommand has a similar name.
    func check(_ program: String) throws(ValidationError) {
        guard let unknown else { return }
        let path = [program] + words.filter { $0 != "help" }
        let near = Spelling.nearest(to: unknown.word, in: unknown.siblings + (words.isEmpty ? ["help"] : []))
        let advice =
            near.map { "did you mean '\((path + [$0]).joined(separator: " "))'?" }
            ?? "see '\(path.joined(separator: " ")) --help'"
        throw ValidationError("'\(unknown.word)' is not a command of '\(path.joined(separator: " "))'; \(advice)")
    }
}
