import OrderedCollections

/// Finds all files of a stack, and makes one tree of them.
struct ComposeLoader {
    /// They are looked at before all else.
    private static let head: Set = ["include", "x-ports"]

    let findings: ComposeFindings
    let reader: ComposeReader

    init(findings: ComposeFindings) {
        self.findings = findings
        reader = ComposeReader(findings: findings)
    }

    struct Text {
        let path: ComposePath
        let text: String
    }

    /// - Parameters:
    ///   - texts: each overrides those before it.
    ///   - directory: where their relative paths start.
    ///   - chain: the files that include these.
    func open(
        _ texts: [Text], directory: ComposePath, environment: ComposeEnvironment, chain: [ComposePath] = []
    ) -> ComposeProject {
        let files = texts.compactMap { file -> ComposeProject.File? in
            let source = ComposeSource(name: file.path.shown, directory: directory, environment: environment)
            return YAMLText.parse(file.text, file: source.name, findings: findings)
                .map { ComposeProject.File(source: source, root: $0) }
        }
        let head =
            files.map { tree(of: $0, offered: [], where: Self.head.contains) }
            .reduce(nil) { $0?.overridden(by: $1) ?? $1 }?.entries ?? [:]
        let includes = (head["include"].map { reader.list($0.value, "'include'") } ?? []).compactMap {
            include($0, chain: chain + texts.map(\.path))
        }
        let ports = head["x-ports"].map { reader.list($0.value, "'x-ports'") } ?? []
        return ComposeProject(files: files, includes: includes, ports: ports + includes.flatMap(\.ports))
    }

    /// - Parameter offered: see ``Interpolation``.
    /// - Returns: `nil` if no file of it could be parsed.
    func tree(of project: ComposeProject, offered: Set<String>) -> ComposeNode? {
        let own = project.files.map { file in
            let tree = tree(of: file, offered: offered) { !Self.head.contains($0) && !$0.hasPrefix("x-") }
            return ComposeExtends(loader: self, offered: offered).resolved(tree)
        }
        guard let merged = own.reduce(nil, { $0?.overridden(by: $1) ?? $1 }) else { return nil }
        if let entries = merged.entries { findings.check(entries, against: .root, in: "the file") }
        return project.includes.compactMap { tree(of: $0, offered: offered) }.reduce(merged, adding)
    }

    func tree(
        of file: ComposeProject.File, offered: Set<String>, where isWanted: (String) -> Bool
    ) -> ComposeNode {
        var builder = ComposeTreeBuilder(source: file.source, findings: findings, offered: offered)
        return builder.file(file.root, where: isWanted)
    }

    /// Services of an included file stand beside the others; there is no merging.
    private func adding(_ tree: ComposeNode, _ included: ComposeNode) -> ComposeNode {
        guard var entries = tree.entries, let more = included.entries?["services"]?.value.entries else { return tree }
        var services = entries["services"]?.value.entries ?? [:]
        for (name, entry) in more {
            if let other = services[name] {
                findings.report(
                    "service '\(name)' is in \(other.key.file):\(other.key.line), too", at: entry.key,
                    hint: "what is included cannot be changed; rename one, or merge the files with -f")
            } else {
                services[name] = entry
            }
        }
        let place = entries["services"] ?? included.entries?["services"]
        entries["services"] = place.map {
            .init(key: $0.key, written: $0.written, value: $0.value.with(.mapping(services)))
        }
        return tree.with(.mapping(entries))
    }
}
