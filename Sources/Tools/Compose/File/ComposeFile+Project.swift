import Foundation
import OrderedCollections

extension ComposeFile {
    /// The project's name that a stack's files give, if they do. To stop a stack or to watch it, the rest of its files
    /// need not be right, nor the variables set that they require.
    ///
    /// - Throws: as the initialiser does.
    package static func projectName(
        in paths: [String], environmentFiles: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String? {
        let reading = try ComposeReading(paths: paths, environmentFiles: environmentFiles, environment: environment)
        // What is wrong with an env file is no matter here.
        let findings = ComposeFindings()
        let names = reading.texts.compactMap { file -> ComposeNode? in
            guard let root = YAMLText.parse(file.text, file: file.path.shown, findings: findings) else { return nil }
            let source = ComposeSource(
                name: file.path.shown, directory: reading.directory, environment: reading.environment)
            var builder = ComposeTreeBuilder(source: source, findings: findings, offered: [])
            return builder.file(root) { $0 == "name" }.entries?["name"]?.value
        }
        let name = names.last.flatMap { ComposeReader(findings: findings).name($0) }
        try findings.throwMistakes()
        return name
    }

    /// The first of the usual names that exists in a folder, as `docker compose` looks for it, with the override file
    /// beside it; then the default of a folder that has several stacks.
    ///
    /// - Returns: nothing when there is none.
    package static func find(in directory: String) -> [String] {
        func existing(_ names: [String]) -> String? {
            names.map { directory + "/" + $0 }.first { FileManager.default.fileExists(atPath: $0) }
        }
        let usual = ["compose", "docker-compose"].flatMap { ["\($0).yaml", "\($0).yml"] }
        guard let file = existing(usual) else { return existing(["compose/default.yaml"]).map { [$0] } ?? [] }
        let overrides = ["compose", "docker-compose"].flatMap { ["\($0).override.yaml", "\($0).override.yml"] }
        return [file, existing(overrides)].compactMap(\.self)
    }
}
