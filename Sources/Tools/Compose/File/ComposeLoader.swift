import OrderedCollections
import Support
import Yams

/// Reads the files that a stack's files include or extend, and merges all of them into one tree.
struct ComposeLoader {
    /// The keys that are read first. The included files and the ports must be known before the other keys are read.
    private static let head: Set = ["include", "x-ports", "x-clients"]
    /// The extensions of the specification in the tree.
    private static let extensions = ["x-bus", "x-keys"]

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

    /// Parses files and the files that they include.
    ///
    /// - Parameters:
    ///   - texts: the files; each file overrides the files before it.
    ///   - directory: the folder in which their relative paths start.
    ///   - chain: the files that include these files, directly or indirectly, from the outermost inwards.
    func open(
        _ texts: [Text], directory: ComposePath, environment: ComposeEnvironment, chain: [ComposePath] = []
    ) -> ComposeProject {
        let files = texts.compactMap { file -> ComposeProject.File? in
            let source = ComposeSource(name: file.path.shown, directory: directory, environment: environment)
            return ComposeTreeBuilder.parse(file.text, file: source.name, findings: findings)
                .map { ComposeProject.File(source: source, root: $0) }
        }
        let head =
            files.map { tree(of: $0, offered: [], where: Self.head.contains) }
            .reduce(nil) { $0?.overridden(by: $1) ?? $1 }?.entries ?? [:]
        let includes = (head["include"].map { reader.list($0.value, "'include'") } ?? []).compactMap {
            include($0, chain: chain + texts.map(\.path))
        }
        let ports = head["x-ports"].map { reader.list($0.value, "'x-ports'") } ?? []
        let clients = head["x-clients"].map { reader.list($0.value, "'x-clients'") } ?? []
        return ComposeProject(
            files: files, includes: includes, ports: ports + includes.flatMap(\.ports),
            clients: clients + includes.flatMap(\.clients))
    }

    /// - Parameter offered: the names of the variables that the supervisor sets; see ``Interpolation``.
    /// - Returns: nil if none of the project's own files could be parsed.
    func tree(of project: ComposeProject, offered: Set<String>) -> ComposeNode? {
        let own = project.files.map { file in
            let tree = tree(of: file, offered: offered) { key in
                !Self.head.contains(key) && (!key.begins(with: "x-") || Self.extensions.contains(key))
            }
            return ComposeExtends(loader: self, offered: offered).resolved(tree)
        }
        guard let merged = own.reduce(nil, { $0?.overridden(by: $1) ?? $1 })?.pruned else { return nil }
        if let entries = merged.entries { findings.check(entries, against: .root, in: "the file") }
        return project.includes.compactMap { tree(of: $0, offered: offered) }.reduce(merged, adding)
    }

    func tree(
        of file: ComposeProject.File, offered: Set<String>, where isWanted: (String) -> Bool
    ) -> ComposeNode {
        var builder = ComposeTreeBuilder(source: file.source, findings: findings, offered: offered)
        return builder.file(file.root, where: isWanted)
    }

    /// Adds the services and, unless there are some, the bus and the keys of an included file. The services are not
    /// merged with other services: a name that is already used is reported, unless both are the same service of the same
    /// file.
    private func adding(_ tree: ComposeNode, _ included: ComposeNode) -> ComposeNode {
        guard var entries = tree.entries, let more = included.entries?["services"]?.value.entries else { return tree }
        var services = entries["services"]?.value.entries ?? [:]
        for (name, entry) in more {
            if let other = services[name] {
                if other.value.isSame(as: entry.value) { continue }
                findings.report(
                    "service '\(name)' is also defined in \(other.key.file):\(other.key.line)", at: entry.key,
                    recovery: "included services cannot be changed; rename one of the two, or merge the files with -f")
            } else {
                services[name] = entry
            }
        }
        for key in Self.extensions where entries[key] == nil { entries[key] = included.entries?[key] }
        let entry = entries["services"] ?? included.entries?["services"]
        entries["services"] = entry.map {
            .init(key: $0.key, written: $0.written, value: $0.value.with(.mapping(services)))
        }
        return tree.with(.mapping(entries))
    }

    /// Reads one entry of `include`. Nil if the entry is invalid or a file cannot be read, which is reported.
    ///
    /// - Parameter chain: the files that include the file of this entry, directly or indirectly, from the outermost
    ///   inwards.
    func include(_ node: ComposeNode, chain: [ComposePath]) -> ComposeProject? {
        guard let entries = reader.mapping(node, "an entry of 'include'") else { return nil }
        findings.check(entries, against: .include, in: "'include'")
        guard let pathNode = entries["path"]?.value, let paths = paths(pathNode), !paths.isEmpty else {
            findings.report(
                "an entry of 'include' has no 'path'", at: node.location, recovery: "name the file to include")
            return nil
        }
        let texts = zip(paths, pathNode.list ?? []).compactMap { path, node in text(of: path, node, chain: chain) }
        guard texts.count == paths.count else { return nil }
        let directory = entries["project_directory"].flatMap { entry in
            reader.path(entry.value, "'project_directory' of 'include'", expandsHome: true)
        }
        let folder = directory ?? texts[0].path.directory
        let environment = environment(of: entries["env_file"]?.value, folder: folder, base: node.source.environment)
        return open(texts, directory: folder, environment: environment, chain: chain)
    }

    /// Reads a file that another file includes. A file that includes itself, even indirectly, is reported.
    ///
    /// - Parameter node: the value that names the file.
    private func text(of path: ComposePath, _ node: ComposeNode, chain: [ComposePath]) -> Text? {
        if let start = chain.firstIndex(where: { $0.absolute == path.absolute }) {
            let way = (chain[start...] + [path]).map(\.shown).joined(separator: " → ")
            findings.report(
                "a file includes itself: \(way)", at: node.location, recovery: "remove one of these includes")
            return nil
        }
        return text(of: path, node)
    }

    func text(of path: ComposePath, _ node: ComposeNode) -> Text? {
        do {
            return Text(path: path, text: try ComposeText.read(path.absolute))
        } catch {
            findings.report(
                "cannot read the file '\(node.scalar?.written ?? path.shown)'", at: node.location,
                recovery: error.recovery ?? "relative paths start in \(node.source.directory.absolute)")
            return nil
        }
    }

    private func paths(_ node: ComposeNode) -> [ComposePath]? {
        let nodes = reader.list(node, "'path' of 'include'")
        let paths = nodes.compactMap { reader.path($0, "'path' of 'include'", expandsHome: true) }
        return paths.count == nodes.count ? paths : nil
    }

    /// The environment of an included file. The variables of the including file take precedence over the env files of
    /// the included file.
    private func environment(
        of node: ComposeNode?, folder: ComposePath, base: ComposeEnvironment
    ) -> ComposeEnvironment {
        guard let node else { return base.fillingIn(dotEnvIn: folder, findings: findings) }
        let what = "'env_file' of 'include'"
        let texts = (node.scalar == nil ? reader.list(node, what) : [node]).compactMap { node -> Text? in
            reader.path(node, what, expandsHome: true).flatMap { text(of: $0, node) }
        }
        return base.fillingIn(from: texts, findings: findings)
    }
}

/// The parsed files of one stack, and the stacks that they include, before they are merged.
struct ComposeProject {
    struct File {
        let source: ComposeSource
        let root: Node
    }

    let files: [File]
    let includes: [ComposeProject]
    /// The entries of `x-ports` in all files, also in included files. Other values may refer to these ports.
    let ports: [ComposeNode]
    /// The entries of `x-clients` in all files, also in included files.
    let clients: [ComposeNode]
}

/// Resolves `extends`: merges each service with the service that it extends.
private struct ComposeExtends {
    let loader: ComposeLoader
    let offered: Set<String>

    private struct Base: Equatable {
        let file: String
        let service: String
    }

    /// A file's tree with every `extends` resolved. A service extends a service of the same file or of another file.
    func resolved(_ file: ComposeNode) -> ComposeNode {
        guard var entries = file.entries, let entry = entries["services"], let services = entry.value.entries else {
            return file
        }
        var resolved = services
        for name in services.keys { resolved[name]?.value = service(name, of: services, file: file.source, chain: []) }
        entries["services"]?.value = entry.value.with(.mapping(resolved))
        return file.with(.mapping(entries))
    }

    private func service(
        _ name: String, of services: ComposeNode.Entries, file: ComposeSource, chain: [Base]
    ) -> ComposeNode {
        let node = services[name]?.value ?? ComposeNode(source: file, line: 1, content: .null)
        guard var entries = node.entries, let extends = entries.removeValue(forKey: "extends")?.value else {
            return node
        }
        let own = node.with(.mapping(entries))
        let chain = chain + [Base(file: file.name, service: name)]
        guard let base = base(extends, services: services, chain: chain) else { return own }
        // In errors, each key of the extended service has its own place, and the service has the place of `own`.
        return own.with(base.overridden(by: own).content)
    }

    private func base(_ extends: ComposeNode, services: ComposeNode.Entries, chain: [Base]) -> ComposeNode? {
        let reader = loader.reader
        let findings = loader.findings
        guard let options = reader.mapping(extends, "'extends'") else { return nil }
        findings.check(options, against: .extends, in: "'extends'")
        guard let node = options["service"]?.value, let name = reader.scalar(node, "'service' of 'extends'") else {
            findings.report("'extends' has no 'service'", at: extends.location, recovery: "name the service to extend")
            return nil
        }
        var (services, file) = (services, extends.source)
        if let other = options["file"]?.value {
            guard let tree = tree(other) else { return nil }
            (services, file) = (tree.entries?["services"]?.value.entries ?? [:], tree.source)
        }
        if let start = chain.firstIndex(of: Base(file: file.name, service: name.text)) {
            let way = (chain[start...].map(\.service) + [name.written]).joined(separator: " → ")
            findings.report(
                "services extend each other: \(way)", at: extends.location, recovery: "remove one 'extends'")
            return nil
        }
        guard services[name.text] != nil else {
            let near = Spelling.suggestion(for: name.text, among: services.keys)
            findings.report("there is no service '\(name.written)' to extend", at: node.location, recovery: near)
            return nil
        }
        return service(name.text, of: services, file: file, chain: chain)
    }

    private func tree(_ node: ComposeNode) -> ComposeNode? {
        guard let path = loader.reader.path(node, "'file' of 'extends'"), let text = loader.text(of: path, node)
        else {
            return nil
        }
        let source = ComposeSource(name: path.shown, directory: path.directory, environment: node.source.environment)
        let root = ComposeTreeBuilder.parse(text.text, file: source.name, findings: loader.findings)
        return root.map { loader.tree(of: .init(source: source, root: $0), offered: offered) { $0 == "services" } }
    }
}
