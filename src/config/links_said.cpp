#include "config/links_said.h"

namespace cohort::config {

LinkSettings links_said(const Loaded& job) {
  LinkSettings settings;
  const CommunicationConfig& said = job.config.communication;
  if (job.places.contains("communication.engine")) settings.engine = engine_named(said.engine);
  if (job.places.contains("communication.algorithm")) settings.algorithm = said.algorithm;
  if (job.places.contains("communication.chunk")) settings.chunk_bytes = said.chunk;
  if (job.places.contains("communication.wire")) settings.wire = said.wire;
  if (job.places.contains("communication.sockets")) settings.sockets = said.sockets;
  if (job.places.contains("communication.explain")) settings.explain = said.explain;
  return settings;
}

}  // namespace cohort::config
