package import ArgumentParser

extension AsyncParsableCommand {
    /// Parses a command line, and runs the command that it names.
    ///
    /// - Parameter arguments: The arguments after the name of the program. Nil for those of this process.
    /// - Throws: The error of the command or of the parser. The parser throws the help and the version as errors, too,
    ///   and its errors quote what was typed, with its control characters.
    package static func parseAndRun(_ arguments: [String]? = nil) async throws {
        var command = try await asyncParseAsRoot(arguments)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }
}
