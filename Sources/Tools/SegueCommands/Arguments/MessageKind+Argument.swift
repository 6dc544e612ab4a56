public import ArgumentParser
public import EventBus

extension MessageKind: ExpressibleByArgument {}
