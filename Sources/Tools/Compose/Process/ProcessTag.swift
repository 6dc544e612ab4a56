import Support

/// The value of an environment variable of an instance's processes, by which they are found. A process that an
/// instance's process starts inherits the variable.
struct ProcessTag: Sendable, Hashable {
    static let variable = "SEGUE_MARK"

    /// The folder of the project's state.
    let project: String
    let service: String
    let instance: String

    init(project: Project, service: String, instance: String) {
        self.project = project.stateDirectory
        self.service = service
        self.instance = instance
    }

    /// Nil if the text is not a tag.
    init?(_ text: String) {
        // Names of services and instances contain no slash.
        let parts = text.split(scalar: "/", omittingEmptySubsequences: false)
        guard parts.count > 2 else { return nil }
        project = parts.dropLast(2).joined(separator: "/")
        (service, instance) = (String(parts[parts.count - 2]), String(parts[parts.count - 1]))
    }

    /// The value of the variable.
    var text: String { "\(project)/\(service)/\(instance)" }
}
