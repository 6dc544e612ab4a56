import OrderedCollections

extension ComposeLoader {
    /// - Parameter chain: the files that lead to this one.
    func include(_ node: ComposeNode, chain: [ComposePath]) -> ComposeProject? {
        guard let entries = reader.mapping(node, "an entry of 'include'") else { return nil }
        findings.check(entries, against: .include, in: "'include'")
        guard let pathNode = entries["path"]?.value, let paths = paths(pathNode), !paths.isEmpty else {
            findings.report("an entry of 'include' has no 'path'", at: node.place)
            return nil
        }
        let texts = zip(paths, pathNode.list ?? []).compactMap { path, node in text(of: path, node, chain: chain) }
        guard texts.count == paths.count else { return nil }
        let directory = entries["project_directory"].flatMap { entry in
            reader.scalar(entry.value, "'project_directory' of 'include'")
                .map { entry.value.source.directory.resolving($0.text) }
        }
        let folder = directory ?? texts[0].path.directory
        let environment = environment(of: entries["env_file"]?.value, folder: folder, base: node.source.environment)
        return open(texts, directory: folder, environment: environment, chain: chain)
    }

    /// Reads a file that another one names.
    ///
    /// - Parameter node: where it is named.
    private func text(of path: ComposePath, _ node: ComposeNode, chain: [ComposePath]) -> Text? {
        if let start = chain.firstIndex(where: { $0.absolute == path.absolute }) {
            let way = (chain[start...] + [path]).map(\.shown).joined(separator: " → ")
            findings.report("a file includes itself: \(way)", at: node.place)
            return nil
        }
        return text(of: path, node)
    }

    func text(of path: ComposePath, _ node: ComposeNode) -> Text? {
        do {
            return Text(path: path, text: try ComposeText.read(path.absolute))
        } catch {
            findings.report(
                "cannot read the file '\(node.scalar?.written ?? path.shown)'", at: node.place,
                hint: error.hint ?? "relative paths start in \(node.source.directory.absolute)")
            return nil
        }
    }

    private func paths(_ node: ComposeNode) -> [ComposePath]? {
        let nodes = reader.list(node, "'path' of 'include'")
        let paths = nodes.compactMap { reader.scalar($0, "'path' of 'include'") }
            .map { node.source.directory.resolving($0.text) }
        return paths.count == nodes.count ? paths : nil
    }

    /// What the including file's variables are wins over the env files of the included one.
    private func environment(
        of node: ComposeNode?, folder: ComposePath, base: ComposeEnvironment
    ) -> ComposeEnvironment {
        guard let node else { return base.adding(usualFileIn: folder, findings: findings) }
        let what = "'env_file' of 'include'"
        let texts = (node.scalar == nil ? reader.list(node, what) : [node]).compactMap { node -> Text? in
            guard let scalar = reader.scalar(node, what) else { return nil }
            return text(of: node.source.directory.resolving(scalar.text), node)
        }
        return base.adding(texts, findings: findings)
    }
}
