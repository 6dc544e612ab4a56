import Foundation
import OrderedCollections

extension ComposeFile {
    /// The project's name that a stack's files give, if they do. To stop a stack or to watch it, the rest of its files
    /// need not be right, nor the variables set that they require.
    ///
    /// - Throws: as the initialiser does.
    package static func projectName(
        in paths: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String? {
        let findings = ComposeFindings()
        var name: String?
        for path in paths {
            let text = try ComposeReading.text(of: path, .compose)
            guard let root = YAMLText.parse(text.text, file: path, findings: findings) else { continue }
            let environment = ComposeEnvironment(environment)
                .adding(usualFileIn: text.path.directory, findings: ComposeFindings())
            let source = ComposeSource(name: path, directory: text.path.directory, environment: environment)
            var builder = ComposeTreeBuilder(source: source, findings: findings, offered: [])
            let tree = builder.file(root) { $0 == "name" }
            name = tree.entries?["name"].flatMap { ComposeReader(findings: findings).name($0.value) } ?? name
        }
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
