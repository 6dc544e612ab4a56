internal import Compose
internal import EventBus

/// One event of a project, for a program; its names are those of `docker compose events` where that has them.
struct EventObject: Encodable {
    let time: String
    let project: String
    let action: ProjectEvent.Action
    let service: String?
    let instance: String?
    let pid: Int32?
    let attributes: [String: String]

    init(_ event: ProjectEvent, project: String) {
        time = Timestamp.text(of: event.time)
        self.project = project
        (action, service, instance, pid) = (event.action, event.service, event.instance, event.pid)
        attributes = event.attributes
    }
}
