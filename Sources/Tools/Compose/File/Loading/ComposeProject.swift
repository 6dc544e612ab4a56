import Yams

/// The files that are merged to one stack, and the stacks that they include: parsed, and no more than that.
struct ComposeProject {
    struct File {
        let source: ComposeSource
        let root: Node
    }

    let files: [File]
    let includes: [ComposeProject]
    /// Of `x-ports` of the files, those included among them: other values may refer to these ports.
    let ports: [ComposeNode]
}
